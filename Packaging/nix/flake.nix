# SPDX-License-Identifier: Apache-2.0
#
# The flake for Nix. Scripts/build/release fills the words between at signs; then: nix profile install path:DIRECTORY
{
  description = "Keychain for Linux with the semantics and the commands of Apple's keychain";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      version = "@VERSION@";
      sums = {
        x86_64-linux = "@SHA256_X86_64@";
        aarch64-linux = "@SHA256_AARCH64@";
      };
      package = system: sha256:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.stdenv.mkDerivation {
          pname = "latchkey";
          inherit version;
          src = pkgs.fetchurl {
            url = "@ADDRESS@/releases/download/v${version}/latchkey-${version}-${system}.tar.xz";
            inherit sha256;
          };
          nativeBuildInputs = [ pkgs.autoPatchelfHook ];
          buildInputs = map pkgs.lib.getLib
            (with pkgs; [ curl openssl pam sqlite ]);
          # Opened by the first call that needs them.
          runtimeDependencies = map pkgs.lib.getLib (with pkgs; [ libfido2 systemd tpm2-tss ]);
          dontStrip = true;
          installPhase = ''
            mkdir -p "$out/share/doc/latchkey"
            cp -R bin lib share etc "$out"
            if [ -d libexec ]; then cp -R libexec "$out"; fi
            rm -r "$out/share/pam-configs"
            cp LICENSE NOTICE latchkey.spdx.json "$out/share/doc/latchkey"
            grep -rlIF /usr/local/ "$out/lib" "$out/share/dbus-1" "$out/etc" |
                xargs -d '\n' sed -i "s|/usr/local/|$out/|g"
          '';
          meta = {
            description = "Keychain for Linux with the semantics and the commands of Apple's keychain";
            homepage = "@ADDRESS@";
            license = pkgs.lib.licenses.asl20;
            mainProgram = "latchkey";
            platforms = builtins.attrNames sums;
            sourceProvenance = [ pkgs.lib.sourceTypes.binaryNativeCode ];
          };
        };
    in {
      packages = builtins.mapAttrs (system: sum: { default = package system sum; }) sums;
    };
}
