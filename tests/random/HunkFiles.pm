# SPDX-License-Identifier: MIT
#
# Random files before and after random edits: { path => "<kind> <content>" }, where the kind is file,
# exec or link.
package HunkFiles;

use strict;
use warnings;
use File::Find ();

my @odd = ("\n", "\r\n", "}\n", "\tindented\n", "\xff\xfe\x80\n", "-\n", "+x\n", " \n", "\\ No newline\n",
	"int f(void)\n", "caf\xc3\xa9\n", "# comment\n", "\@\@ -1 +1 \@\@\n", "diff --git a b\n");

sub some_line { rand() < .3 ? $odd[ rand @odd ] : sprintf("%s %d\n", (qw(line new))[ rand 2 ], rand 40) }

sub content {
	my $lines = (0, 1, 3, 8, 20, 60)[ rand 6 ];
	my $text = join '', map { some_line() } 1 .. $lines;
	chop $text if rand() < .2;
	return $text;
}

# A few places change, some of them close together.
sub edit {
	my ($text) = @_;
	my @lines = $text =~ /[^\n]*\n|[^\n]+\z/g;
	for (1 .. 1 + rand 5) {
		my $at = int rand(@lines + 1);
		for (1 .. 1 + rand 3) {
			$lines[-1] .= "\n" if @lines && $lines[-1] !~ /\n\z/ && rand() < .7;
			my $what = rand;
			if ($what < .4 || $at >= @lines) {
				splice @lines, $at, 0, some_line() if $at < @lines || !@lines || $lines[-1] =~ /\n\z/;
			} elsif ($what < .7) {
				splice @lines, $at, 1;
			} else {
				$lines[$at] = some_line();
			}
			$at = @lines if $at > @lines;
			$at += int rand 5;
			$at = @lines if $at > @lines;
		}
	}
	my $new = join '', @lines;
	chop $new if rand() < .1;
	return $new;
}

sub pair {
	my @names = ('a', 'b c', "caf\xc3\xa9", 'd/e', 'd/f/g', 'd-x', 'z.c');
	my (%old, %new);
	for my $name (@names) {
		my $what = rand;
		next if $what < .35;
		my $text = content();
		my $kind = rand() < .2 ? 'exec' : 'file';
		if ($what < .45) {
			$old{$name} = "$kind $text";
		} elsif ($what < .55) {
			$new{$name} = "$kind $text";
		} elsif ($what < .6) {
			$old{$name} = 'link ' . int rand 5;
			$new{$name} = 'link ' . int rand 5;
		} elsif ($what < .65) {
			$old{$name} = "file \0$text";
			$new{$name} = "file \0\0$text";
		} else {
			$old{$name} = "$kind $text";
			$kind = $kind eq 'exec' ? 'file' : 'exec' if rand() < .15;
			$new{$name} = "$kind " . (rand() < .05 ? $text : edit($text));
		}
	}
	return (\%old, \%new);
}

sub put {
	my ($dir, $files) = @_;
	File::Find::finddepth({ no_chdir => 1, wanted => sub {
		return if $_ eq $dir || m{^\Q$dir\E/\.git(/|\z)};
		-d && !-l ? rmdir : unlink;
	} }, $dir);
	for my $path (sort keys %$files) {
		my ($kind, $text) = $files->{$path} =~ /\A(\w+) (.*)\z/s;
		my $parent = $dir;
		for my $part (split m{/}, $path =~ s{/?[^/]*\z}{}r) {
			$parent .= "/$part";
			mkdir $parent;
		}
		if ($kind eq 'link') {
			symlink $text, "$dir/$path" or die "$path: $!";
			next;
		}
		open my $out, '>:raw', "$dir/$path" or die "$path: $!";
		print $out $text;
		close $out;
		chmod $kind eq 'exec' ? 0755 : 0644, "$dir/$path";
	}
}

sub read_all {
	my ($dir) = @_;
	my %files;
	File::Find::find({ no_chdir => 1, wanted => sub {
		if (m{/\.git\z}) { $File::Find::prune = 1; return }
		my $path = substr $_, length($dir) + 1 if $_ ne $dir;
		if (-l) {
			$files{$path} = 'link ' . readlink;
		} elsif (-f _) {
			local $/;
			open my $in, '<:raw', $_ or die "$_: $!";
			$files{$path} = (-x _ ? 'exec ' : 'file ') . (<$in> // '');
		}
	} }, $dir);
	return \%files;
}

1;
