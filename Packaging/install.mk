# SPDX-License-Identifier: Apache-2.0
#
# Install, and pack.

# A package keeps the symbols apart, and strips the executables itself.
STRIP ?= -s
# Under DESTDIR, in front of each place where a package puts its files.
INTO = $(DESTDIR)$(PREFIX)
LIBEXEC := $(PREFIX)/libexec/latchkey
SYSTEM_UNITS ?= $(PREFIX)/lib/systemd/system
# In /usr, two packages cannot have a file of this name; the Debian package takes another directory.
DBUS_SERVICES ?= $(PREFIX)/share/dbus-1/services
# The only directory where PAM looks for modules. DESTDIR, and not PREFIX, is another place.
PAM_PLACES = $(addsuffix /security,/usr/lib/$(shell $(CC) -print-multiarch 2> /dev/null) /lib64 /lib)
PAM_DIR ?= $(firstword $(wildcard $(PAM_PLACES)) /usr/lib/security)
# Installs its input, with the directories of PREFIX.
SITE = sed -E 's,/usr/(bin|libexec)/,$(PREFIX)/\1/,'
WRITE := install -D -m 644 /dev/stdin
# The programs of earlier versions in PREFIX/bin.
EARLIER := $(DAEMONS) $(SERVICES) latchkey-mount latchkey-import
# A profile that the administrator enforces (aa-enforce) stays enforced.
APPARMOR := latchkeyd-system

.PHONY: install
install: release ## Install under PREFIX, with manual pages and completions
	@$(MAKE) --no-print-directory install-files
	@$(MAKE) --no-print-directory install-pam
	$(if $(WITHOUT_DOCUMENTS),,@$(MAKE) --no-print-directory install-documents)

.PHONY: install-files
install-files:
	@link="$(INTO)/bin/security"; \
	    if { [ -e "$$link" ] || [ -L "$$link" ]; } && [ "$$(readlink "$$link")" != latchkey ]; then \
	    echo "latchkey: $$link exists, and is another program: move it first, or choose another PREFIX" >&2; exit 1; fi
	set -e; for program in $(COMMANDS); do \
	    install $(STRIP) -D -m 755 "$(BINARIES)/$$program" "$(INTO)/bin/$$program"; done
	rm -f $(EARLIER:%="$(INTO)/bin/%")
	set -e; for program in $(DAEMONS); do \
	    install $(STRIP) -D -m 755 "$(BINARIES)/$$program" "$(DESTDIR)$(LIBEXEC)/$$program"; done
	set -e; for name in $(SERVICES); do ln -f "$(DESTDIR)$(LIBEXEC)/latchkeyd" "$(DESTDIR)$(LIBEXEC)/$$name"; done
	ln -sf latchkey "$(INTO)/bin/security"
	set -eo pipefail; for unit in Packaging/systemd/system/*; do \
	    $(SITE) "$$unit" | $(WRITE) "$(DESTDIR)$(SYSTEM_UNITS)/$${unit##*/}"; done
	set -eo pipefail; for unit in Packaging/systemd/user/*; do \
	    $(SITE) "$$unit" | $(WRITE) "$(INTO)/lib/systemd/user/$${unit##*/}"; done
	set -eo pipefail; for file in Packaging/dbus-1/*.portal.*; do \
	    $(SITE) "$$file" | $(WRITE) "$(INTO)/share/dbus-1/services/$${file##*/}"; done
	set -eo pipefail; file=org.freedesktop.secrets.service; \
	    $(SITE) Packaging/dbus-1/$$file | $(WRITE) "$(DESTDIR)$(DBUS_SERVICES)/$$file"
	install -D -m 644 Packaging/portal/latchkey.portal "$(INTO)/share/xdg-desktop-portal/portals/latchkey.portal"
	install -D -m 644 Packaging/systemd/latchkey.sysusers "$(INTO)/lib/sysusers.d/latchkey.conf"
	set -eo pipefail; place="$(DESTDIR)/etc/apparmor.d/$(APPARMOR)"; enforced=; \
	    ! grep -qs '^profile ' "$$place" || grep -q '^profile .*complain' "$$place" || enforced='s/complain, //'; \
	    $(SITE) Packaging/apparmor/$(APPARMOR) | sed "$$enforced" | $(WRITE) "$$place"
	set -e; for file in client.conf daemon.conf; do test -e "$(DESTDIR)/etc/latchkey/$$file" || \
	    install -D -m 644 "Packaging/$$file" "$(DESTDIR)/etc/latchkey/$$file"; done

.PHONY: install-pam
install-pam: pam #- Install the PAM module, and its profile for pam-auth-update
	set -eo pipefail; if $(HAS_PAM); then \
	    install $(STRIP) -D -m 644 $(PAM_MODULE) "$(DESTDIR)$(PAM_DIR)/pam_latchkey.so"; \
	    $(SITE) Packaging/pam-configs/latchkey | $(WRITE) "$(DESTDIR)/usr/share/pam-configs/latchkey"; fi

.PHONY: uninstall
uninstall: uninstall-pam #- Remove the installed files; keychains and changed configuration stay
	@[ -n "$(DESTDIR)" ] || echo "latchkey: units that were enabled stay enabled:" \
	    "systemctl disable latchkeyd.socket, as user: systemctl --user disable latchkeyd.socket"
	set -e; for name in $(COMMANDS) $(EARLIER); do rm -f "$(INTO)/bin/$$name"; done
	set -e; for name in $(DAEMONS) $(SERVICES); do rm -f "$(DESTDIR)$(LIBEXEC)/$$name"; done
	rm -rf "$(DESTDIR)$(SDK_PLACE)"
	set -e; for directory in lib libexec; do place="$(INTO)/$$directory/latchkey"; \
	    [ ! -d "$$place" ] || rmdir --ignore-fail-on-non-empty "$$place"; done
	link="$(INTO)/bin/security"; [ "$$(readlink "$$link")" != latchkey ] || rm "$$link"
	set -e; for unit in Packaging/systemd/system/*; do rm -f "$(DESTDIR)$(SYSTEM_UNITS)/$${unit##*/}"; done
	set -e; for unit in Packaging/systemd/user/*; do rm -f "$(INTO)/lib/systemd/user/$${unit##*/}"; done
	set -e; for directory in "$(PREFIX)/share/dbus-1/services" "$(DBUS_SERVICES)"; do \
	    for file in Packaging/dbus-1/*; do place="$(DESTDIR)$$directory/$${file##*/}"; \
	    ! grep -qs latchkey-secret-service "$$place" || rm "$$place"; done; done
	set -e; for name in $(COMMANDS) $(EARLIER) security; do \
	    for place in "$(INTO)"/share/man/man[158]/{$$name,$$name-*}.[158] \
	    "$(INTO)/share/bash-completion/completions/$$name" "$(DESTDIR)$(ZSH_COMPLETIONS)/_$$name" \
	    "$(INTO)/share/fish/vendor_completions.d/$$name.fish"; do \
	    ! grep -qsi latchkey "$$place" || rm "$$place"; done; done
	rm -f "$(INTO)/share/xdg-desktop-portal/portals/latchkey.portal" "$(INTO)/lib/sysusers.d/latchkey.conf"
	@set -e; for file in client.conf daemon.conf; do place="$(DESTDIR)/etc/latchkey/$$file"; \
	    if cmp -s "Packaging/$$file" "$$place"; then rm "$$place"; \
	    elif [ -e "$$place" ]; then echo "latchkey: kept, because it was changed: $$place"; fi; done
	@set -e; place="$(DESTDIR)/etc/apparmor.d/$(APPARMOR)"; plain='s/complain, //'; \
	    if [ ! -e "$$place" ]; then :; \
	    elif cmp -s <($(SITE) Packaging/apparmor/$(APPARMOR) | sed "$$plain") <(sed "$$plain" "$$place"); then \
	    rm "$$place"; else echo "latchkey: kept, because it was changed: $$place"; fi
	set -e; for directory in latchkey apparmor.d; do [ ! -d "$(DESTDIR)/etc/$$directory" ] || \
	    rmdir --ignore-fail-on-non-empty "$(DESTDIR)/etc/$$directory"; done

# First the profile is taken out of the logins, because they would miss the module.
.PHONY: uninstall-pam
uninstall-pam:
	set -e; if [ -z "$(DESTDIR)" ] && [ -e /usr/share/pam-configs/latchkey ] && \
	    command -v pam-auth-update > /dev/null; then pam-auth-update --package --remove latchkey; fi
	rm -f "$(DESTDIR)/usr/share/pam-configs/latchkey" "$(DESTDIR)$(PAM_DIR)/pam_latchkey.so"

# The SDK: modules with Apple's names that are compiled already, for packages that are not changed.
SDK := .build/sdk
SDK_PLACE ?= $(PREFIX)/lib/latchkey/sdk

.PHONY: sdk
sdk: #- Build the SDK in .build/sdk, for packages that know nothing of Latchkey
	@./Scripts/build/dependencies $(BUILD_PACKAGES) binutils
	@$(MAKE) --no-print-directory sdk-files

.PHONY: sdk-files
sdk-files:
	export LATCHKEY_REPRODUCIBLE=1 LATCHKEY_STRICT=; ./Scripts/build/sdk $(SDK) $(RELEASE)

.PHONY: install-sdk
install-sdk: #- Install the SDK that `make sdk` has built under PREFIX
	@test -e $(SDK)/version || { echo "latchkey: no SDK in $(SDK): run make sdk first" >&2; exit 1; }
	rm -rf "$(DESTDIR)$(SDK_PLACE)"
	install -d "$(DESTDIR)$(SDK_PLACE)"
	cp -R $(SDK)/. "$(DESTDIR)$(SDK_PLACE)"
	"$(DESTDIR)$(SDK_PLACE)/configure" "$(SDK_PLACE)"

# The manual pages and completions, from the executables' own descriptions.
DOCUMENTS ?= .build/documents
# Where the shells look; /usr has directories of its own for the files of packages.
ZSH_COMPLETIONS ?= $(PREFIX)/share/zsh/$(if $(filter /usr,$(PREFIX)),vendor-completions,site-functions)

.PHONY: documents
documents: #- Make the manual pages and the completions of bash, zsh and fish
	@rm -rf $(DOCUMENTS) && mkdir -p $(DOCUMENTS)/programs
	@set -e; for program in $(PROGRAMS); do \
	    ln -s "$$(realpath "$(BINARIES)/$$program")" $(DOCUMENTS)/programs/$$program; done; \
	    ln -s latchkey $(DOCUMENTS)/programs/security; \
	    for name in $(SERVICES); do ln -s latchkeyd $(DOCUMENTS)/programs/$$name; done
	./Scripts/build/manual-pages $(DOCUMENTS)/programs $(DOCUMENTS)/man
	./Scripts/build/completions $(DOCUMENTS)/programs $(DOCUMENTS)

.PHONY: install-documents
install-documents: documents #- Install manual pages and completions under PREFIX
	set -e; for page in $(DOCUMENTS)/man/*; do \
	    install -D -m 644 "$$page" "$(INTO)/share/man/man$${page##*.}/$${page##*/}"; done
	set -e; for file in $(DOCUMENTS)/bash/*; do \
	    install -D -m 644 "$$file" "$(INTO)/share/bash-completion/completions/$${file##*/}"; done
	set -e; for file in $(DOCUMENTS)/zsh/*; do \
	    install -D -m 644 "$$file" "$(DESTDIR)$(ZSH_COMPLETIONS)/$${file##*/}"; done
	set -e; for file in $(DOCUMENTS)/fish/*; do \
	    install -D -m 644 "$$file" "$(INTO)/share/fish/vendor_completions.d/$${file##*/}"; done

# The packages for dpkg-buildpackage and the checks of its result.
PACKAGE_TOOLS := build-essential dbus debhelper dh-apparmor dpkg-dev libsecret-tools lintian openssl pkg-config \
    po-debconf python3

.PHONY: deb
deb: #- Build the Debian packages (LATCHKEY_PREBUILT=DIR: from DIR)
	@./Scripts/build/dependencies $(BUILD_PACKAGES) $(PACKAGE_TOOLS) systemd
	./Scripts/build/deb .build/deb

.PHONY: deb-source
deb-source: #- Make the Debian source package, with the packages of SwiftPM in it
	@./Scripts/build/dependencies $(PACKAGE_TOOLS) libfuse3-dev
	./Scripts/build/deb --source .build/deb-source

.PHONY: tarball
tarball: #- Pack the release, and the SDK if it is built, for other systems
	@./Scripts/build/dependencies $(BUILD_PACKAGES) binutils python3 xz-utils
	@LATCHKEY_REPRODUCIBLE=1 $(MAKE) --no-print-directory release LATCHKEY_STRICT=
	./Scripts/build/tarball .build/tarball
