# SPDX-License-Identifier: Apache-2.0
# Hosts for tests: network namespaces with a bridge between them, each with an sshd of its own. To be sourced; needs root.
#   make_hosts 3   makes h1 .. h3 at 10.77.B.1 .. with B from the process id; their files are in $net
#   on 2 COMMAND   runs it in h2
#   drop_hosts     ends and removes everything
net= net_id= net_block= net_hosts=0
# Says why the tests cannot run here, or nothing.
net_missing() {
  [ "$(id -u)" -eq 0 ] || { echo "only root makes network namespaces"; return; }
  command -v ip >/dev/null || { echo "no 'ip' (iproute2) is installed; 'launch/setup --tests' installs it"; return; }
  [ -x /usr/sbin/sshd ] || { echo "no sshd (openssh-server) is installed; 'launch/setup --tests' installs it"; return; }
  ip netns add "st-try-$$" 2>/dev/null && ip netns del "st-try-$$" || echo "this machine makes no network namespaces"
}
make_hosts() {
  net=$1/net net_hosts=$2 net_id=$(($$ % 10000)) net_block=$(($$ % 250 + 1))
  mkdir -p "$net/fake" "$net/home" /run/sshd
  chmod 755 "$1" "$net"
  ip link add "sb$net_id" type bridge && ip addr add "10.77.$net_block.254/24" dev "sb$net_id" && ip link set "sb$net_id" up || return 1
  ssh-keygen -q -t ed25519 -N '' -f "$net/id" && cp "$net/id.pub" "$net/authorized" && chmod 600 "$net/authorized"
  local i
  for i in $(seq "$net_hosts"); do
    ip netns add "st$net_id-$i" && ip link add "sv$net_id-$i" type veth peer name eth0 netns "st$net_id-$i" || return 1
    ip link set "sv$net_id-$i" master "sb$net_id" up
    ip -n "st$net_id-$i" link set lo up
    ip -n "st$net_id-$i" addr add "$(addr "$i")/24" dev eth0
    ip -n "st$net_id-$i" link set eth0 up
    ssh-keygen -q -t ed25519 -N '' -f "$net/host$i"
    echo "$(addr "$i") $(cut -d' ' -f1,2 "$net/host$i.pub")" >>"$net/known"
    mkdir -p "$net/fake$i"  # what is in here comes before the real programs on that host
    cat >"$net/sshd$i.conf" <<EOF
HostKey $net/host$i
AuthorizedKeysFile $net/authorized
PidFile $net/sshd$i.pid
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
MaxStartups 100
MaxSessions 100
PermitRootLogin prohibit-password
# A home of their own: what the user's profile does is not to be waited for, nor to be killed half done.
SetEnv HOME=$net/home PATH=$net/fake$i:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
EOF
    ip netns exec "st$net_id-$i" /usr/sbin/sshd -f "$net/sshd$i.conf" -E "$net/sshd$i.log" || return 1
  done
}
addr() { echo "10.77.$net_block.$1"; }
on() { local i=$1; shift; ip netns exec "st$net_id-$i" "$@"; }
# The pids of everything that runs in host $1.
inside() { ip netns pids "st$net_id-$1" 2>/dev/null; }
link() { ip link set "sv$net_id-$1" "$2"; }  # link 2 down
drop_hosts() {
  [ -n "$net" ] || return 0
  local i pid
  for i in $(seq "$net_hosts"); do
    for pid in $(inside "$i"); do kill -9 "$pid" 2>/dev/null; done
    ip netns del "st$net_id-$i" 2>/dev/null
  done
  ip link del "sb$net_id" 2>/dev/null
}
