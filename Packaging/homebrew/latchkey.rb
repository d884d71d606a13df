# SPDX-License-Identifier: Apache-2.0
#
# The formula for Homebrew on Linux. Scripts/build/release fills the words between at signs; the result belongs in the
# directory Formula of a tap.
class Latchkey < Formula
  desc "Keychain for Linux with the semantics and the commands of Apple's keychain"
  homepage "@ADDRESS@"
  version "@VERSION@"
  license "Apache-2.0"

  on_intel do
    url "@ADDRESS@/releases/download/v@VERSION@/latchkey-@VERSION@-x86_64-linux.tar.xz"
    sha256 "@SHA256_X86_64@"
  end
  on_arm do
    url "@ADDRESS@/releases/download/v@VERSION@/latchkey-@VERSION@-aarch64-linux.tar.xz"
    sha256 "@SHA256_AARCH64@"
  end

  depends_on "patchelf" => :build
  depends_on "curl"
  depends_on "libfido2"
  depends_on :linux
  depends_on "openssl@3"
  depends_on "sqlite"
  depends_on "systemd"

  LIBRARIES = ["curl", "libfido2", "openssl@3", "sqlite", "systemd"].freeze

  # Units, files for the session bus and the PAM module are left out: no part of the system looks for them here.
  def install
    path = LIBRARIES.map { |name| Formula[name].opt_lib }.join(":")
    Dir["{bin,libexec}/**/*"].each do |file|
      next if File.symlink?(file) || !File.file?(file)

      system "patchelf", "--set-rpath", path, file
    end
    bash_completion.install Dir["share/bash-completion/completions/*"]
    rm_r Dir["share/{bash-completion,dbus-1,pam-configs,xdg-desktop-portal}"]
    prefix.install Dir["{bin,libexec,share}"], "LICENSE", "NOTICE", "latchkey.spdx.json"
  end

  def caveats
    <<~TEXT
      These are not in Homebrew, and come from the package manager of your system:
        libtss2-esys.so.0 and libtss2-mu.so.0 (tpm2-tss), for a device key in the TPM
        fusermount3 (fuse3), which latchkey mount runs
    TEXT
  end

  test do
    ENV["LATCHKEY_EPHEMERAL"] = "1"
    assert_match version.to_s, shell_output("#{bin}/latchkey --version")
    assert_match "mode", shell_output("#{bin}/latchkey status")
  end
end
