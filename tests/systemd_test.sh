#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Starling as its Debian package installs it, under systemd: a machine is booted with the unit, used, broken, and booted
# again; on the way the package is installed once more, as for an upgrade.
#   tests/systemd_test.sh BUILD [nspawn|uml]
# nspawn: a container on this kernel. uml: a kernel of its own (user-mode-linux), whose cgroups have all their
# controllers whatever this machine's have: also limits of jobs are tried. Both have this machine's files below a tmpfs.
# What the flock writes is on a disk of its own in uml, since files of this machine have this machine's owners.
# uml takes some ten minutes, so it is skipped unless STARLING_UML is set (tests/nightly sets it).
# Needs root and systemd; ends with 77, which ctest calls skipped, where something is not there.
set -u
build=$1
kind=${2:-nspawn}
here=$(dirname "$(realpath "$0")")
skip() { echo "skipped: $*"; exit 77; }
case $kind in nspawn) program=systemd-nspawn package=systemd-container ;; uml) program=linux.uml package=user-mode-linux ;; *) echo "which machine is '$kind'? nspawn or uml" >&2; exit 2 ;; esac
[ "$(id -u)" -eq 0 ] || skip "only root can boot a machine"
[ $kind = nspawn ] || [ -n "${STARLING_UML:-}" ] || skip "a kernel of its own takes some ten minutes; it is booted where STARLING_UML=1 is set"
[ -x /lib/systemd/systemd ] || skip "no systemd is installed"
command -v $program >/dev/null || skip "no $program is installed (Debian's $package; 'launch/setup --tests' installs it)"

work=$(mktemp -d)
machine=
trap '[ -z "$machine" ] || kill -9 -- -$machine 2>/dev/null; umount -l "$work/root" "$work" 2>/dev/null; rmdir "$work" 2>/dev/null' EXIT
mount -t tmpfs -o size=4g tmpfs "$work" || skip "no tmpfs can be mounted"
mkdir "$work/above" "$work/between" "$work/root"
mount -t overlay starling-test -o "lowerdir=/,upperdir=$work/above,workdir=$work/between" "$work/root" 2>/dev/null || skip "no overlay can be mounted"

root=$work/root
# Of this machine's own services nothing starts, and there is no flock of it.
rm -rf "$root"/etc/systemd/system/*.wants "$root"/etc/systemd/system/*.target "$root"/var/lib/starling "$root"/{usr/local,usr,etc}/lib/systemd/system/starling@.service
ln -sf /lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
mkdir -p "$root/etc/systemd/system/multi-user.target.wants" "$root/starling-test"
chroot "$root" userdel starling 2>/dev/null
(cd "$build" && cpack -D CPACK_COMPONENTS_ALL=runtime -B "$work/package" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; echo "FAILED: no package" >&2; exit 1; }
cp "$work"/package/starling_*.deb "$root/starling-test/starling.deb"
chroot "$root" dpkg -i /starling-test/starling.deb >"$work/dpkg.log" 2>&1 || { cat "$work/dpkg.log"; echo "FAILED: not installed" >&2; exit 1; }
disk=()
if [ $kind = uml ]; then
  truncate -s 1G "$work/disk"
  mkfs.ext4 -q -E "root_owner=$(chroot "$root" id -u starling):$(chroot "$root" id -g starling)" "$work/disk"
  cat >"$root/etc/systemd/system/starling-disk.service" <<'UNIT'
[Unit]
DefaultDependencies=no
After=systemd-remount-fs.service
Before=local-fs.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/bin/mount /dev/ubda /var/lib/starling
UNIT
  mkdir -p "$root/etc/systemd/system/local-fs.target.wants"
  ln -s ../starling-disk.service "$root/etc/systemd/system/local-fs.target.wants/"
  disk=("ubda=$work/disk")
fi
"$root/usr/bin/starling" topology generate flat --servers 2 --gpus 2 -o "$root/starling-test/cluster.yaml" 2>/dev/null
cp "$here/systemd_guest.sh" "$root/starling-test/"
[ ! -x "$build/launch/guardian/guardian_test" ] || cp "$build"/launch/guardian/{guardian_test,*.so} "$root/starling-test/"
cat >"$root/etc/systemd/system/starling-test.service" <<'UNIT'
[Unit]
Description=What is done in this machine
[Service]
ExecStart=/starling-test/systemd_guest.sh /starling-test
[Install]
WantedBy=multi-user.target
UNIT
ln -s ../starling-test.service "$root/etc/systemd/system/multi-user.target.wants/"

for boot in 1 2; do
  if [ $kind = nspawn ]; then
    SYSTEMD_NSPAWN_UNIFIED_HIERARCHY=1 setsid systemd-nspawn --quiet --register=no --keep-unit --private-network -D "$root" -b \
      </dev/null >>"$work/console" 2>&1 &
  else
    setsid "$program" mem=1500M root=/dev/root rootfstype=hostfs "rootflags=$root" rw "${disk[@]}" init=/lib/systemd/systemd \
      systemd.unified_cgroup_hierarchy=1 con=null con0=null,fd:1 </dev/null >>"$work/console" 2>&1 &
  fi
  machine=$!
  wait $machine
  [ -s "$root/starling-test/notes" ] || break
  [ ! -s "$root/starling-test/verdict" ] || break
done
cat "$root/starling-test/notes" 2>/dev/null
verdict=$(cat "$root/starling-test/verdict" 2>/dev/null)
case $verdict in
  "all right"*) echo "$verdict" ;;
  *) tail -40 "$work/console"; echo "FAILED: ${verdict:-the machine did not come to an end}" >&2; exit 1 ;;
esac
