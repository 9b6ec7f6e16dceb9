// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/small_disks.h"

#include <sys/mount.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>

namespace starling::chaos_live {

namespace fs = std::filesystem;

Result<std::unique_ptr<SmallDisks>> SmallDisks::make(const std::vector<fs::path>& folders,
                                                     std::uint32_t mib, const Reaper& reaper) {
  std::unique_ptr<SmallDisks> disks(new SmallDisks());
  constexpr auto kAll = fs::copy_options::recursive;
  for (const fs::path& folder : folders) {
    const fs::path aside = folder.string() + ".aside";
    std::error_code error;
    fs::rename(folder, aside, error);
    if (!error) fs::create_directory(folder, aside, error);
    if (error) return {Errc::io, folder.string() + ": " + error.message()};
    const std::string size = "size=" + std::to_string(mib) + "m,mode=0700";
    if (::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, size.c_str()) != 0) {
      const int why = errno;
      return {Errc::unsupported, "file systems of a given size need root and mount(2): " +
                                     std::string(std::strerror(why))};
    }
    disks->mounted_.push_back(folder);
    reaper.at_end("umount -l '" + folder.string() + "'");
    fs::copy(aside, folder, kAll, error);
    if (!error) fs::remove_all(aside, error);
    if (error) return {Errc::io, folder.string() + ": " + error.message()};
  }
  return disks;
}

SmallDisks::~SmallDisks() {
  for (const fs::path& folder : mounted_) {
    std::error_code error;
    const fs::path aside = folder.string() + ".aside";
    // Sockets and FIFOs cannot be copied; logs and journals are what is wanted.
    fs::create_directory(aside, error);
    for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code one;
      const fs::path to = aside / fs::relative(at->path(), folder, one);
      if (at->is_directory(one)) fs::create_directory(to, one);
      if (at->is_regular_file(one) && at->path().filename() != "filler")
        fs::copy_file(at->path(), to, one);
    }
    ::umount2(folder.c_str(), MNT_DETACH);
    fs::remove(folder, error);
    fs::rename(aside, folder, error);
  }
}

}  // namespace starling::chaos_live
