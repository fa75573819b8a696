# SPDX-License-Identifier: MIT
#
# A program that asks, on a pipe.
package Talk;

use strict;
use warnings;

# Talk->new(<directory>, <file>, <descriptor that asks>, <command>...): the other output goes to the file
sub new {
	my ($class, $dir, $file, $fd, @command) = @_;
	pipe(my $in, my $typed) or die "pipe: $!";
	pipe(my $shown, my $out) or die "pipe: $!";
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		chdir $dir or exit 126;
		open STDIN, '<&', $in;
		open STDOUT, $fd == 1 ? '>&' : '>', $fd == 1 ? $out : $file;
		open STDERR, $fd == 2 ? '>&' : '>', $fd == 2 ? $out : $file;
		close $typed;
		exec @command or exit 127;
	}
	close $in;
	close $out;
	$typed->autoflush(1);
	return bless { pid => $pid, typed => $typed, shown => $shown, ended => 0 }, $class;
}

sub say {
	my ($self, $line) = @_;
	print { $self->{typed} } "$line\n";
}

# What it shows up to its next question, or its end.
sub listen {
	my ($self) = @_;
	my $text = '';
	return $text if $self->{ended};
	while ($text !~ /(?:\[[^]\n]*\]|hunk|more\)|regex)\? \z/) {
		my $n = sysread $self->{shown}, my $more, 65536;
		if (!$n) {
			$self->{ended} = 1;
			close $self->{typed};
			waitpid $self->{pid}, 0;
			$self->{status} = $? & 127 ? 128 + ($? & 127) : $? >> 8;
			last;
		}
		$text .= $more;
	}
	return $text;
}

# It asks no more: the end of its answers, and of it.
sub stop {
	my ($self) = @_;
	return if $self->{ended};
	close $self->{typed};
	1 while sysread $self->{shown}, my $rest, 65536;
	waitpid $self->{pid}, 0;
	$self->{ended} = 1;
}

sub ended { $_[0]{ended} }
sub status { $_[0]{status} }

1;
