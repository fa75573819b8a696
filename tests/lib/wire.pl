#!/usr/bin/perl
# SPDX-License-Identifier: MIT
#
# A wire that can be cut: wire.pl <port> <port of the server> <file>
#
# Listens on the loopback interface, and passes everything on to the server and back. The file says
# what happens after a number of bytes, counted over all connections since the file changed:
#
#   <bytes> kill <file>   SIGKILL for the process whose number is in that file
#   <bytes> close         connections are closed, and new ones too
#   <bytes> hang          nothing passes any more
#   <bytes> trickle       4096 bytes pass, and again each time a tenth of a second is over
#   0 -                   nothing
#
# <file>.count has the number of bytes that have passed, <file>.done exists once it has happened.

use strict;
use warnings;
use IO::Select;
use IO::Socket::INET;

my ($port, $server, $file) = @ARGV;
my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 50, ReuseAddr => 1)
	or die "$port: $!\n";
my ($spec, $at, $do, $what, $count) = ('', 0, '', '', 0);
my (%peer, %left);

sub put {
	my ($name, $text) = @_;
	open my $fh, '>', "$name.new" or die;
	print $fh "$text\n";
	close $fh;
	rename "$name.new", $name or die;
}

sub look {
	open my $fh, '<', $file or return;
	my $now = <$fh> // '';
	return if $now eq $spec;
	$spec = $now;
	($at, $do, $what) = split ' ', $spec;
	$do = '' if $do eq '-';
	$count = 0;
	unlink "$file.done";
}

sub drop {
	my ($one) = @_;
	my $other = delete $peer{$one};
	delete $left{$one};
	close $one;
	return if !$other || !$peer{$other};
	delete $peer{$other};
	delete $left{$other};
	close $other;
}

sub happens {
	return 0 if !$do || $count < $at;
	if (!-e "$file.done") {
		put("$file.done", $count);
		if ($do eq 'kill') {
			open my $fh, '<', $what or die;
			kill 'KILL', <$fh> + 0;
		}
	}
	return 1;
}

sub pass {
	my ($from) = @_;
	my $room = !$do || $count >= $at ? 16384 : $at - $count;
	$room = 4096 if $do eq 'trickle' && $count >= $at;
	my $n = sysread $from, my $data, $room > 16384 ? 16384 : $room;
	my $to = $peer{$from};
	if (!$n) {
		# The other direction may still be in use.
		shutdown $to, 1;
		return $left{$from}{half} || $left{$to}{half} ? drop($from) : ($left{$from}{half} = 1);
	}
	$count += $n;
	put("$file.count", $count);
	for (my $off = 0; $off < $n;) {
		my $wrote = syswrite $to, $data, $n - $off, $off;
		return drop($from) if !$wrote;
		$off += $wrote;
	}
}

local $SIG{PIPE} = 'IGNORE';
my @hanging;
while (1) {
	my $select = IO::Select->new($listen);
	my %sockets = map { $_ => $_ } grep { $_ } values %peer;
	$select->add(grep { !$left{$_}{half} } values %sockets);
	for my $ready ($select->can_read) {
		look();
		my $over = happens();
		if ($ready == $listen) {
			my $client = $listen->accept or next;
			push(@hanging, $client), next if $over && $do eq 'hang';
			close($client), next if $over && $do eq 'close';
			my $to = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server) or next;
			@peer{$client, $to} = ($to, $client);
			@left{$client, $to} = ({}, {});
			next;
		}
		next if !$peer{$ready};
		if ($over && $do eq 'hang') {
			# Keep the connections, forget that they have something to say.
			push @hanging, values %sockets;
			%peer = %left = ();
			last;
		}
		drop($ready), next if $over && $do eq 'close';
		pass($ready);
		happens();
		select undef, undef, undef, 0.1 if $over && $do eq 'trickle';
	}
}
