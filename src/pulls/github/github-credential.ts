import { BatonError } from '../../core/baton-error.ts';
import { harmlessLine } from '../../core/text/harmless-line.ts';
import type { Redactor } from '../../core/text/redact.ts';
import { Secret } from '../../core/text/secret.ts';
import type { GithubCredential } from '../../github/github.ts';
import { githubErrors } from '../../github/github-errors.ts';
import { childEnvironment } from '../../process/child-environment.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import type { ProcessDeps } from '../../process/start-child.ts';

const ghMs = 20_000;

/** What `gh` needs to find the login of the person; never a token of its own choice. */
const variables = ['PATH', 'HOME', 'USER', 'LOGNAME', 'XDG_*', 'GH_CONFIG_DIR', 'DBUS_SESSION_BUS_ADDRESS'];

interface CredentialDeps extends ProcessDeps {
  readonly daemonEnv: Readonly<Record<string, string | undefined>>;
  /** No one else knows the token of `gh`: from now on it is removed from foreign text. */
  readonly redactor: Pick<Redactor, 'also'>;
}

/** The token of the settings, or else the one that the program `gh` has for this host. */
export function githubCredential(given: Secret | null, host: string, deps: CredentialDeps): GithubCredential {
  if (given !== null) return { token: async () => given, refused: () => {} };
  let known: Promise<Secret> | null = null;
  return {
    token: () => {
      known ??= askGh(host, deps).catch((error: unknown) => {
        known = null;
        throw error;
      });
      return known;
    },
    refused: () => {
      known = null;
    },
  };
}

async function askGh(host: string, { redactor, ...deps }: CredentialDeps): Promise<Secret> {
  const env = childEnvironment({ from: deps.daemonEnv, allow: variables, deny: [], add: { GH_PROMPT_DISABLED: '1' } });
  const args = ['auth', 'token', '--hostname', host];
  const request = { command: 'gh', args, cwd: '/', env, runId: 'gh', timeoutMs: ghMs };
  const { code, stdout, stderr, timedOut } = await runToEnd(request, { ...deps, containment: 'group_only' }).catch(
    () => ({ code: null, stdout: '', stderr: 'the program gh cannot be started', timedOut: false }),
  );
  const token = stdout.trim();
  if (code === 0 && /^\S{8,}$/.test(token)) {
    redactor.also(token);
    return new Secret(token);
  }
  const said = timedOut
    ? `it did not end within ${ghMs / 1_000} seconds`
    : harmlessLine(stderr.trim()).slice(-300) || 'it gave no token';
  throw new BatonError(
    githubErrors.github_login_missing,
    `There is no token for ${host}: review.token, GITHUB_TOKEN and GH_TOKEN are not set, and \`gh auth token\` failed: ${said}`,
    { details: { host, said } },
  );
}
