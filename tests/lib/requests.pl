#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Calls of all tools with arguments as their schemas have them, and as they do not.
# usage: requests.pl <seed> <number> <file with the result of tools/list> <a directory of the server>
use strict;
use warnings;
use JSON::PP;

my ($seed, $number, $tools, $here) = @ARGV;
srand $seed;

sub any { return $_[int rand @_] }

my @texts = ('@', '@~1', '@~9', 'step:1', 'turn:1', 'last', '', ' ', '-', '--force', '--', "a\nb", 'file', 'sub/a b',
	'/', '..', '../..', '.git/config', '/etc/passwd', $here, "$here/sub", "$here/.git", "\x{20ac}\x{1f600}", "\x{9b}31m",
	'"odd\\377"', '@..@~1', 'chk_', '0' x 32, '18446744073709551616', '-1', '20', '; rm -rf *', '$(touch x)');
my @odd = (undef, JSON::PP::true, JSON::PP::false, 0, -1, 1.5, 1e300, [], {}, [undef], [[]], { a => undef }, 'x' x 70000);

sub value {
	my ($schema) = @_;
	return any(@odd) if rand() < 0.2;
	return any(JSON::PP::true, JSON::PP::false) if $schema->{type} eq 'boolean';
	return [map { rand() < 0.1 ? any(@odd) : any(@texts) } 1 .. int rand 4] if $schema->{type} eq 'array';
	return any(@texts);
}

open my $file, '<:raw', $tools or die "$tools: $!\n";
my @known = @{ JSON::PP->new->utf8->decode(join '', <$file>)->{tools} };
my $json = JSON::PP->new->utf8->allow_nonref;
for my $id (1 .. $number) {
	my $tool = any(@known);
	my %schemas = %{ $tool->{inputSchema}{properties} };
	my %needed = map { $_ => 1 } @{ $tool->{inputSchema}{required} || [] };
	my %arguments;
	for my $name (sort keys %schemas) {
		next if $name eq 'directory' && rand() < 0.8;
		$arguments{$name} = value($schemas{$name}) if rand() < ($needed{$name} ? 0.95 : 0.35);
	}
	$arguments{ any('force', 'yes', '') } = any(@odd) if rand() < 0.03;
	my $arguments = rand() < 0.03 ? any(@odd) : \%arguments;
	my %request = (jsonrpc => '2.0', id => rand() < 0.5 ? "r$id" : $id, method => 'tools/call',
		params => { name => $tool->{name}, arguments => $arguments });
	# More than a server reads, with the id anywhere.
	$request{ any('a', 'm', 'z') } = ['x' x 5_000_000] if rand() < 0.02;
	my @members = map { $json->encode($_) . ':' . $json->encode($request{$_}) } sort { rand() <=> 0.5 } keys %request;
	print '{', join(',', @members), "}\n";
}
