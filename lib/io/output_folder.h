// A folder of results that appears under its final name whole or not at all.
#pragma once

#include <string>

namespace bam::io {

// The folder is made as ".bam-RANDOM.tmp" beside its final place, and removed with what is in it unless commit() was
// called. A killed process leaves it behind.
class OutputFolder {
 public:
  // Throws Error: there already (an empty folder may be), no such parent, no permission.
  explicit OutputFolder(const std::string& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  // Where a file of this name is to be written, by an OutputFile.
  std::string place(const std::string& name) const { return temporary_ + "/" + name; }

  // Gives the folder its name and syncs its parent. Throws Error when the name was taken since.
  void commit();

 private:
  std::string final_;
  std::string temporary_;  // empty after commit
};

}  // namespace bam::io
