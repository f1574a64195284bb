import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** How a private home of Codex differs from the usual one. */
export interface CodexHomeChoices {
  /** `gpt-5.5` has an entry in the catalogue of Codex and with it `apply_patch`; an unknown name has ordinary tools. */
  readonly model?: string;
  readonly approvalPolicy?: string;
  readonly sandboxMode?: string;
  readonly features?: Readonly<Record<string, boolean>>;
  readonly requestMaxRetries?: number;
  readonly streamMaxRetries?: number;
  /** Folders whose own settings Codex may follow. */
  readonly trusted?: readonly string[];
  /** More lines of `config.toml`, tables of their own. */
  readonly more?: string;
}

export interface CodexHome {
  /** For `CODEX_HOME`. */
  readonly home: string;
  /** Variables with which Codex finds this home and nothing of the person who runs it. */
  readonly env: { readonly HOME: string; readonly CODEX_HOME: string; readonly TMPDIR: string };
}

/**
 * A home of Codex in `folder` whose only model is the fake one at `baseUrl`. Everything else that reaches for a network
 * is off: with all of these lines together the fake is the only address that Codex looks for.
 */
export function codexHome(folder: string, baseUrl: string, choices: CodexHomeChoices = {}): CodexHome {
  const home = path.join(folder, 'codex-home');
  const user = path.join(folder, 'user-home');
  // Codex refuses to keep its helper programs below the folder for temporary files, so that folder is next to its home.
  const temporary = path.join(folder, 'temporary');
  for (const each of [home, user, temporary]) mkdirSync(each, { recursive: true });
  writeFileSync(path.join(home, 'config.toml'), configToml(baseUrl, choices));
  return { home, env: { HOME: user, CODEX_HOME: home, TMPDIR: temporary } };
}

const quietFeatures = {
  apps: false,
  plugins: false,
  remote_plugin: false,
  plugin_discovery_prefetch: false,
  // Otherwise a refused connection is tried for ever.
  unbounded_connection_retries: false,
};

function configToml(baseUrl: string, choices: CodexHomeChoices): string {
  const { model = 'fake-model', approvalPolicy = 'never', sandboxMode = 'danger-full-access' } = choices;
  const { requestMaxRetries = 1, streamMaxRetries = 1, trusted = [], more = '' } = choices;
  const lines = [
    `model = ${quoted(model)}`,
    'model_provider = "fake"',
    `approval_policy = ${quoted(approvalPolicy)}`,
    `sandbox_mode = ${quoted(sandboxMode)}`,
    'check_for_update_on_startup = false',
    '[analytics]',
    'enabled = false',
    '[feedback]',
    'enabled = false',
    '[features]',
    ...Object.entries({ ...quietFeatures, ...choices.features }).map(([name, isOn]) => `${name} = ${isOn}`),
    '[model_providers.fake]',
    'name = "Fake model on loopback"',
    `base_url = ${quoted(baseUrl)}`,
    'wire_api = "responses"',
    'requires_openai_auth = false',
    `request_max_retries = ${requestMaxRetries}`,
    `stream_max_retries = ${streamMaxRetries}`,
    'stream_idle_timeout_ms = 20000',
    ...trusted.flatMap((folder) => [`[projects.${quoted(folder)}]`, 'trust_level = "trusted"']),
    more,
  ];
  return `${lines.join('\n')}\n`;
}

/** A basic string of TOML; JSON escapes as TOML does. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
