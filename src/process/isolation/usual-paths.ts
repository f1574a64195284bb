import type { Access } from './isolation-plan.ts';

/** A path of an isolated child's view, and why it has this access. docs/isolation.md lists them. */
export interface UsualPath {
  /** Below the home for paths of a home; absolute for paths of the system. */
  readonly path: string;
  readonly access: Access;
  readonly because: string;
}

/**
 * What an isolated child sees of a home besides its own empty folder: tool chains and package caches. `layered` wherever
 * tools write: what an agent puts into a shared cache would later run as the user, outside of any isolation.
 */
export const homePaths: readonly UsualPath[] = [
  // Shells
  { path: '.profile', access: 'read', because: 'login shells set the PATH there' },
  { path: '.bash_profile', access: 'read', because: 'login shells set the PATH there' },
  { path: '.bash_login', access: 'read', because: 'login shells set the PATH there' },
  { path: '.bashrc', access: 'read', because: 'profiles read it' },
  { path: '.zshenv', access: 'read', because: 'every zsh reads it' },
  // Programs of the user
  { path: 'bin', access: 'read', because: 'programs of the user' },
  { path: '.local/bin', access: 'read', because: 'programs of the user' },
  { path: '.local/lib', access: 'read', because: 'Python packages of the user' },
  { path: '.local/share/pipx', access: 'read', because: 'programs that pipx installed' },
  { path: '.local/share/uv', access: 'layered', because: 'Pythons and tools of uv' },
  { path: '.local/share/mise', access: 'layered', because: 'tool chains of mise' },
  { path: '.config/mise', access: 'read', because: 'says which tool chains mise uses' },
  { path: '.asdf', access: 'layered', because: 'tool chains of asdf' },
  { path: '.tool-versions', access: 'read', because: 'says which tool chains asdf and mise use' },
  { path: '.nix-profile', access: 'read', because: 'programs that Nix installed' },
  { path: '.local/state/nix', access: 'read', because: 'programs that Nix installed' },
  { path: '.linuxbrew', access: 'read', because: 'programs that Homebrew installed' },
  // JavaScript
  { path: '.nvm', access: 'layered', because: 'Node versions of nvm' },
  { path: '.fnm', access: 'layered', because: 'Node versions of fnm' },
  { path: '.local/share/fnm', access: 'layered', because: 'Node versions of fnm' },
  { path: '.volta', access: 'layered', because: 'Node versions of Volta' },
  { path: '.npm', access: 'layered', because: 'package cache of npm' },
  { path: '.npm-global', access: 'read', because: 'programs that npm installed' },
  { path: '.bun', access: 'layered', because: 'Bun and its package cache' },
  { path: '.deno', access: 'layered', because: 'Deno and its programs' },
  { path: '.yarn', access: 'layered', because: 'package cache of Yarn' },
  { path: '.local/share/pnpm', access: 'layered', because: 'pnpm and its store' },
  { path: '.cache/node', access: 'layered', because: 'package managers that Corepack installed' },
  { path: '.cache/pnpm', access: 'layered', because: 'package cache of pnpm' },
  { path: '.cache/yarn', access: 'layered', because: 'package cache of Yarn' },
  { path: '.cache/deno', access: 'layered', because: 'package cache of Deno' },
  { path: '.cache/ms-playwright', access: 'layered', because: 'browsers for tests' },
  { path: '.cache/puppeteer', access: 'layered', because: 'browsers for tests' },
  { path: '.cache/Cypress', access: 'layered', because: 'browsers for tests' },
  { path: '.cache/electron', access: 'layered', because: 'package cache of Electron' },
  // Python
  { path: '.pyenv', access: 'layered', because: 'Python versions of pyenv' },
  { path: '.rye', access: 'layered', because: 'Python versions of Rye' },
  { path: '.conda', access: 'layered', because: 'environments of Conda' },
  { path: 'miniconda3', access: 'layered', because: 'Conda' },
  { path: 'miniforge3', access: 'layered', because: 'Conda' },
  { path: 'anaconda3', access: 'layered', because: 'Conda' },
  { path: '.cache/pip', access: 'layered', because: 'package cache of pip' },
  { path: '.cache/uv', access: 'layered', because: 'package cache of uv' },
  { path: '.cache/pypoetry', access: 'layered', because: 'package cache of Poetry' },
  { path: '.local/share/pypoetry', access: 'read', because: 'Poetry itself' },
  { path: '.cache/pre-commit', access: 'layered', because: 'hooks that pre-commit installed' },
  { path: '.cache/huggingface', access: 'layered', because: 'models for tests' },
  { path: '.cache/huggingface/token', access: 'hidden', because: 'a login' },
  { path: '.cache/huggingface/stored_tokens', access: 'hidden', because: 'logins' },
  // Rust, Go, Java, .NET, Ruby, PHP, Elixir, Haskell, C
  { path: '.cargo', access: 'layered', because: 'Cargo, its programs and its package cache' },
  { path: '.cargo/credentials', access: 'hidden', because: 'logins' },
  { path: '.cargo/credentials.toml', access: 'hidden', because: 'logins' },
  { path: '.rustup', access: 'layered', because: 'Rust tool chains' },
  { path: 'go', access: 'layered', because: 'Go programs and modules' },
  { path: '.cache/go-build', access: 'layered', because: 'build cache of Go' },
  { path: '.m2', access: 'layered', because: 'package cache of Maven' },
  { path: '.m2/settings.xml', access: 'hidden', because: 'may hold passwords' },
  { path: '.m2/settings-security.xml', access: 'hidden', because: 'holds a password' },
  { path: '.gradle', access: 'layered', because: 'Gradle and its package cache' },
  { path: '.gradle/gradle.properties', access: 'hidden', because: 'may hold passwords' },
  { path: '.sdkman', access: 'layered', because: 'tool chains of SDKMAN' },
  { path: '.jdks', access: 'read', because: 'Java versions' },
  { path: '.ivy2', access: 'layered', because: 'package cache of Ivy' },
  { path: '.ivy2/.credentials', access: 'hidden', because: 'logins' },
  { path: '.cache/coursier', access: 'layered', because: 'package cache of Scala' },
  { path: '.dotnet', access: 'layered', because: '.NET' },
  { path: '.nuget/packages', access: 'layered', because: 'package cache of NuGet' },
  { path: '.rbenv', access: 'layered', because: 'Ruby versions of rbenv' },
  { path: '.rvm', access: 'layered', because: 'Ruby versions of RVM' },
  { path: '.gem', access: 'layered', because: 'Ruby packages' },
  { path: '.gem/credentials', access: 'hidden', because: 'logins' },
  { path: '.bundle/cache', access: 'layered', because: 'package cache of Bundler' },
  { path: '.cache/composer', access: 'layered', because: 'package cache of Composer' },
  { path: '.mix', access: 'layered', because: 'tools of Elixir' },
  { path: '.hex/packages', access: 'layered', because: 'package cache of Hex' },
  { path: '.ghcup', access: 'layered', because: 'Haskell tool chains' },
  { path: '.cabal/packages', access: 'layered', because: 'package cache of Cabal' },
  { path: '.stack', access: 'layered', because: 'package cache of Stack' },
  { path: '.cache/ccache', access: 'layered', because: 'compiler cache' },
  { path: '.cache/bazel', access: 'layered', because: 'build cache of Bazel' },
  { path: '.cache/zig', access: 'layered', because: 'build cache of Zig' },
  { path: '.swiftly', access: 'read', because: 'Swift tool chains' },
  { path: 'Android/Sdk', access: 'layered', because: 'the Android SDK' },
];

/**
 * Places of secrets. They stay hidden when a setting shows a folder around them; to show one, a setting names the path
 * itself.
 */
export const homeSecrets: readonly string[] = [
  ...['.ssh', '.gnupg', '.netrc', '.git-credentials', '.config/git/credentials', '.password-store', '.pki'],
  ...['.aws', '.azure', '.config/gcloud', '.kube', '.docker', '.config/containers', '.terraform.d', '.vault-token'],
  ...['.config/gh', '.config/glab-cli', '.config/hub', '.npmrc', '.yarnrc.yml', '.pypirc', '.pgpass', '.my.cnf'],
  ...['.local/share/keyrings', '.local/share/kwalletd', '.config/op', '.config/1Password', '.config/Bitwarden'],
  ...['.mozilla', '.config/google-chrome', '.config/chromium', '.config/BraveSoftware', '.thunderbird'],
  ...['.bash_history', '.zsh_history', '.psql_history', '.python_history', '.node_repl_history', '.local/state/baton'],
];

/** What an isolated child sees of the system: it may read everything else that the user may read. */
export const systemPaths: readonly UsualPath[] = [
  { path: '/tmp', access: 'private', because: 'sockets and files of other programs are there' },
  { path: '/var/tmp', access: 'private', because: 'the same' },
  { path: '/dev/shm', access: 'private', because: 'the same' },
  { path: '/run', access: 'hidden', because: 'sockets of services that start programs: the session bus, Docker' },
  { path: '/run/systemd/resolve', access: 'read', because: 'names of hosts are resolved with it' },
  { path: '/run/resolvconf', access: 'read', because: 'names of hosts are resolved with it' },
  { path: '/run/NetworkManager/resolv.conf', access: 'read', because: 'names of hosts are resolved with it' },
  { path: '/run/nscd', access: 'read', because: 'names of hosts and users are resolved with it' },
  { path: '/run/current-system', access: 'read', because: 'the programs of NixOS' },
  { path: '/run/opengl-driver', access: 'read', because: 'libraries of NixOS' },
  { path: '/etc/shadow', access: 'hidden', because: 'passwords, which root could read' },
  { path: '/etc/gshadow', access: 'hidden', because: 'passwords, which root could read' },
  { path: '/etc/ssl/private', access: 'hidden', because: 'keys, which root could read' },
  { path: '/etc/kubernetes', access: 'hidden', because: 'logins, which root could read' },
  { path: '/var/lib/docker', access: 'hidden', because: 'files of containers, which root could read' },
  { path: '/var/lib/containerd', access: 'hidden', because: 'files of containers, which root could read' },
  { path: '/var/lib/lxd', access: 'hidden', because: 'the socket of LXD, which starts containers as root' },
  { path: '/var/lib/incus', access: 'hidden', because: 'the socket of Incus, which starts containers as root' },
  { path: '/var/snap', access: 'hidden', because: 'sockets of services that a snap installed, such as LXD' },
  { path: '/var/lib/kubelet', access: 'hidden', because: 'files of containers, which root could read' },
  { path: '/var/lib/systemd/credentials', access: 'hidden', because: 'logins, which root could read' },
  { path: '/var/spool/cron', access: 'hidden', because: 'commands of users, which root could read' },
];
