/** The complete environment of a child: Node passes nothing else on. */
export type ChildEnvironment = Readonly<Record<string, string>>;

export interface ChildEnvironmentRules {
  /** The daemon's own environment, passed in by `cli/`. */
  readonly from: Readonly<Record<string, string | undefined>>;
  /** Names to pass on, exact or as `PREFIX_*`. */
  readonly allow: readonly string[];
  /** Names that no child may see, exact or as `PREFIX_*`. They win over `allow` and over `add`. */
  readonly deny: readonly string[];
  readonly add?: Readonly<Record<string, string>>;
}

/**
 * Variables that programs need for paths, the network and their files. None of them is usually a secret, and none leads
 * to a service of the login session (XDG_RUNTIME_DIR, DBUS_*, SSH_AUTH_SOCK): such a service starts programs outside of
 * every containment, where they outlive the run.
 */
export const usualVariables: readonly string[] = [
  ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_*', 'TERM', 'TZ', 'TMPDIR'],
  ...['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CONFIG_DIRS', 'XDG_DATA_DIRS'],
  ...['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy'],
  ...['SSL_CERT_FILE', 'SSL_CERT_DIR', 'NODE_EXTRA_CA_CERTS'],
];

/** Builds a child's environment from an allow-list, so that a secret reaches a child only when the user named it. */
export function childEnvironment(rules: ChildEnvironmentRules): ChildEnvironment {
  const candidates = [
    ...Object.entries(rules.from)
      .filter(([name]) => matchesAny(name, rules.allow))
      .map(([name, value]) => [name, isNamedTwice(name, rules.allow) ? value : withoutPassword(name, value)] as const),
    ...Object.entries(rules.add ?? {}),
  ];
  const environment: Record<string, string> = {};
  for (const [name, value] of candidates) {
    if (value !== undefined && !matchesAny(name, rules.deny)) environment[name] = value;
  }
  return environment;
}

/** The user and password in the address of a proxy, which may be without a scheme. */
const userOfProxy = /^(?<scheme>(?:[a-z\d+.-]+:\/\/)?)[^/:@]*:?(?<password>[^/]*)@/i;

/** The password of a proxy, as the variable has it; null for any other variable. */
function proxyPassword(name: string, value: string): string | null {
  return (isProxy(name) && userOfProxy.exec(value)?.groups?.password) || null;
}

function isProxy(name: string): boolean {
  return /^(?:https?|all)_proxy$/i.test(name);
}

/** Among the usual variables, and named by the user as well: then it is passed on as it is. */
function isNamedTwice(name: string, allow: readonly string[]): boolean {
  return allow.indexOf(name) !== allow.lastIndexOf(name);
}

function withoutPassword(name: string, value: string | undefined): string | undefined {
  return isProxy(name) ? value?.replace(userOfProxy, '$<scheme>') : value;
}

function matchesAny(name: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
}

/**
 * The name of a variable that probably contains a secret: `OPENAI_API_KEY`, `CODEX_ACCESS_TOKEN`, `CLIENT_SECRET`,
 * `PGPASSWORD`.
 */
const nameOfSecret = /(?:^|_)(?:KEY|TOKEN|SECRET)$|PASSWORD/i;

/**
 * The secrets among variables, whatever their source: none may appear in a text. Of a proxy it is the password. Values shorter than
 * eight characters are ignored (`core/text/redact.ts`), because they would match in any text.
 */
export function secretsAmong(environment: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(environment).flatMap(([name, value = '']) => {
    const password = proxyPassword(name, value);
    if (password !== null) return [password];
    return nameOfSecret.test(name) ? [value] : [];
  });
}
