#!/usr/bin/perl
# SPDX-License-Identifier: MIT
# Whether the result of a tool is what its schema says: the part of JSON Schema that we use.
# usage: schema.pl <tool> <file with the result of tools/list> <file with the result of the call>
use strict;
use warnings;
use JSON::PP;

my ($tool, $tools, $result) = @ARGV;

sub load {
	my ($name) = @_;
	open my $file, '<:raw', $name or die "$name: $!\n";
	local $/;
	return JSON::PP->new->utf8->decode(<$file>);
}

sub is_a {
	my ($value, $type) = @_;
	return !defined $value if $type eq 'null';
	return 0 unless defined $value;
	return ref $value eq 'HASH' if $type eq 'object';
	return ref $value eq 'ARRAY' if $type eq 'array';
	return JSON::PP::is_bool($value) if $type eq 'boolean';
	return 0 if ref $value;
	my $number = JSON::PP->new->allow_nonref->encode($value) !~ /^"/;
	return !$number if $type eq 'string';
	return $number && ($type eq 'number' || $value == int $value);
}

sub check {
	my ($value, $schema, $where) = @_;
	my $type = $schema->{type} or return;
	my ($fits) = grep { is_a($value, $_) } ref $type ? @$type : $type;
	die "$where is not of type " . join(' or ', ref $type ? @$type : $type) . "\n" unless $fits;
	if ($fits eq 'object') {
		exists $value->{$_} or die "$where has no '$_'\n" for @{ $schema->{required} || [] };
		for (sort keys %$value) {
			my $member = $schema->{properties}{$_};
			check($value->{$_}, $member, "$where.$_") if $member;
			die "$where has an undocumented '$_'\n" if !$member && %{ $schema->{properties} };
		}
	}
	if ($fits eq 'array') {
		check($value->[$_], $schema->{items}, "$where\[$_]") for 0 .. $#$value;
	}
}

my ($known) = grep { $_->{name} eq $tool } @{ load($tools)->{tools} };
my $answer = load($result);
my $text = JSON::PP->new->decode($answer->{content}[0]{text});
exit 0 if $answer->{isError} && $text->{error};
my $canonical = JSON::PP->new->canonical;
die "text and structured content differ\n"
	if $canonical->encode($text) ne $canonical->encode($answer->{structuredContent});
check($answer->{structuredContent}, $known->{outputSchema}, $tool);
