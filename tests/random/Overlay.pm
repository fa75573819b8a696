# SPDX-License-Identifier: MIT
#
# For RANDOM_LAYERS: a worktree $T/work that is an overlay.
package Overlay;
use strict;
use warnings;
use Exporter 'import';

our @EXPORT = qw(new_layer unmount);

my @layers;

sub unmount {
	return unless @layers;
	@layers = ();
	system('umount', "$ENV{T}/work") == 0 or die "umount: $?\n";
}

# From here on nothing in the worktree is in the upper layer.
sub new_layer {
	return unless $ENV{RANDOM_LAYERS};
	my @lower = @layers ? @layers : ('none');
	unmount();
	@layers = (scalar(@lower) + 1 . '/upper', @lower);
	my ($dir) = split m{/}, $layers[0];
	mkdir "$ENV{T}/layers/$_" for $dir, "$dir/upper", "$dir/work";
	chmod +(stat "$ENV{T}/layers/$lower[0]")[2] & 07777, "$ENV{T}/layers/$dir/upper" if @lower > 1;
	# by relative paths, as options must not be long
	system('sh', '-c', 'cd "$1/layers" && exec mount -t overlay overlay -o "lowerdir=$2,upperdir=$3/upper,workdir=$3/work" "$1/work"',
		'sh', $ENV{T}, join(':', @lower), $dir) == 0 or die "mount: $?\n";
}

1;
