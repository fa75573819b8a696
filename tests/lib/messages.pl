#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# The texts of all calls that make a sentence for the user, from C sources: a line
# "<file>:<line>: <function>: <text>" each, the pieces of a text joined.
# usage: messages.pl <source>...
use strict;
use warnings;

my $functions = join '|', qw(ckpt_error_set ckpt_error_errno libgit2_error ckpt_error_prefix
	strlist_addf problems_addf bad_usage malformed warn);

# The arguments of a call, which begin at $at, after the bracket.
sub arguments {
	my ($text, $at) = @_;
	my $rest = substr $text, $at;
	$rest =~ /^((?:[^()"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(\((?:[^()"']|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?2))*\)))*)\)/s
		or return '';
	return $1;
}

for my $file (@ARGV) {
	open my $fh, '<', $file or die "$file: $!\n";
	my $text = do { local $/; <$fh> };
	$text =~ s{/\*.*?\*/}{ $& =~ tr/\n//cdr }seg;
	while ($text =~ /\b($functions|fprintf)\(/g) {
		my ($function, $at) = ($1, pos $text);
		my $arguments = arguments($text, $at);
		next if $function eq 'fprintf' && $arguments !~ s/^stderr,\s*"(?:warning|error|fatal): /"/;
		# the first text is the format, with macros in between
		$arguments =~ /("(?:\\.|[^"\\])*"(?:\s*(?:[A-Z][A-Z_]+\s*)?"(?:\\.|[^"\\])*")*)/ or next;
		my $format = $1;
		$format =~ s/"\s*[A-Z][A-Z_]+\s*"/X/g;
		$format =~ s/"\s*"//g;
		$format =~ s/^"|"$//g;
		$format =~ s/\\n$//;
		my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);
		print "$file:$line: $function: $format\n";
	}
}
