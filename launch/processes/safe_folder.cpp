// SPDX-License-Identifier: Apache-2.0
#include "launch/processes/safe_folder.h"

#include "launch/processes/shell_word.h"
#include "launch/processes/subprocess.h"

namespace starling {

// `ls -ldn` is what POSIX has to tell a mode and an owner by: "drwxrwxrwt 18 0 0 ...". A group that
// is the user's own and is called like the user has no other in it.
const char* safe_folder_functions() {
  return R"sh(
me=$(id -u) trust=
[ "$(id -gn)" = "$(id -un)" ] && own=$(id -g) || own=none
look() {
  read -r m n u g x <<END
$(LC_ALL=C ls -ldn -- "$1")
END
}
others() {
  case $m in ????????w*) return 0;; esac
  case $m in ?????w*) [ "$g" != "$own" ] && [ "$g" != 0 ];; *) return 1;; esac
}
walk() {
  at= rest=$1 bad= hops=0
  while :; do
    rest=${rest#"${rest%%[!/]*}"}
    [ -n "$rest" ] || break
    part=${rest%%/*}
    case $part in
      .) rest=${rest#.}; continue;;
      ..) rest=${rest#..} at=${at%/*}; continue;;
    esac
    next=$at/$part
    [ -e "$next" ] || [ -L "$next" ] || { rest=/$rest; return 0; }
    rest=${rest#"$part"}
    look "$next"
    if [ "$u" != 0 ] && [ "$u" != "$me" ] &&
      ! { [ "$trust" ] && [ "$me" != 0 ] && [ "$u" = 65534 ]; }; then
      bad="$next belongs to user $u, neither to root nor to user $me"; return 1
    fi
    case $m in
      l*)
        hops=$((hops + 1))
        [ $hops -le 40 ] || { bad="$1 has too many links"; return 1; }
        link=$(readlink "$next")
        case $link in /*) at=;; esac
        rest=$link$rest; continue;;
      d*) ;;
      *) bad="$next is no folder"; return 1;;
    esac
    at=$next
    case $m in ?????????[tT]*) continue;; esac
    if others; then
      bad="others may write to $at ($m); run chmod go-w on it, or choose another place"; return 1
    fi
  done
  look "${at:-/}"
  if [ "$u" != "$me" ]; then bad="$at belongs to user $u, not to user $me"; return 1; fi
  if others; then
    bad="others may write to $at ($m); run chmod 700 on it, or choose another place"; return 1
  fi
}
make() {
  walk "$1" || return 1
  while [ -n "$rest" ]; do
    part=${rest#/} part=${part%%/*}
    mkdir -m "${2:-700}" -- "$at/$part" 2>/dev/null || [ -d "$at/$part" ] ||
      { bad="$at/$part cannot be made"; return 1; }
    walk "$at$rest" || return 1
  done
}
)sh";
}

std::string where_safe(const std::string& directory, const std::string& command) {
  return safe_folder_functions() + ("walk " + shell_word(directory)) +
         " || { echo \"$bad\" >&2; exit 1; }\n" + command;
}

namespace {

Status on_this_machine(const std::filesystem::path& dir, const std::string& what,
                       const std::string& mode) {
  const std::string path = shell_word(std::filesystem::absolute(dir).string());
  const Finished ran = run_program({"sh", "-c",
                                    safe_folder_functions() + ("trust=yes; " + what + " ") + path +
                                        " " + mode + " || { echo \"$bad\" >&2; exit 1; }"});
  if (ran.ok()) return done();
  return {Errc::invalid, last_words(ran)};
}

}  // namespace

Status is_safe_folder(const std::filesystem::path& dir) { return on_this_machine(dir, "walk", ""); }

Status make_safe_folder(const std::filesystem::path& dir) {
  return on_this_machine(dir, "make", "755");
}

}  // namespace starling
