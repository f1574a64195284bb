import { existsSync, readFileSync, renameSync } from 'node:fs';
import path from 'node:path';
import { describe } from 'vitest';
import { presets } from '../../src/agent/acp/presets.ts';
import { fakeModelVariables } from '../fake/anthropic/claude-home.ts';
import { startFakeAnthropic } from '../fake/anthropic/fake-anthropic.ts';
import type { FakeModel } from '../fake/fake-model.ts';
import { codexHome } from '../fake/openai/codex-home.ts';
import { startFakeOpenAi } from '../fake/openai/fake-openai.ts';
import { type Scenario, shell, type ToolCall } from '../fake/openai/scenario.ts';
import { areRealAgentsWanted, installPackage, packageFolder, type WantedPackage } from './cached-package.ts';
import { findClaude } from './claude-binary.ts';
import { findCodex } from './codex-binary.ts';

/** A real program of the Agent Client Protocol, with the model that it can talk to. */
export interface AcpProgram {
  readonly preset: 'claude-agent-acp' | 'codex-acp' | 'opencode';
  readonly version: string;
  /** The file that its command names. */
  readonly file: string;
  /** Shell text. */
  readonly command: string;
  /** The program that a person uses by hand. */
  readonly byHand: string;
  /** The folder that an isolated program has to see beyond its command. */
  readonly folder: string;
  startModel(scenario?: Scenario): Promise<FakeModel>;
  /** Logs it in to the model, in the home of a user; returns the variables that it needs beyond HOME. */
  login(home: string, modelUrl: string): Readonly<Record<string, string>>;
  /** A call of its tool that runs a command. */
  bash(command: string): ToolCall;
  /** The same for a command that needs a permission. */
  asking(command: string): ToolCall;
  /** A call of its tool that makes a file. */
  write(file: string, content: string): ToolCall;
  /** A call of its tool that starts a sub-agent with this prompt. */
  delegate(prompt: string): ToolCall;
  /** A call of its tool that asks a person; absent where it has none. */
  question?(question: ChoiceQuestion): ToolCall;
  /** A call of a tool of Baton. */
  own(name: string, input: Readonly<Record<string, unknown>>): ToolCall;
}

export interface ChoiceQuestion {
  readonly question: string;
  readonly header: string;
  readonly options: readonly { readonly label: string; readonly description: string }[];
}

type Found = AcpProgram | { readonly missing: string };

/** The packages, each with the checksum of the registry. */
const packages = {
  claude: {
    name: '@agentclientprotocol/claude-agent-acp',
    version: presets['claude-agent-acp'].tested,
    checksum: 'sha512-tK5lNtoI85IS0K8PVKYK86t/ARgCS1AjEw+u6QSNmdu0tbhyeB6FTNzFnGNIgsL/3xYwrQUMFDC6osT1aIPReQ==',
    file: 'dist/index.js',
  },
  codex: {
    name: '@agentclientprotocol/codex-acp',
    version: presets['codex-acp'].tested,
    checksum: 'sha512-/PBsd0H6URy4bhXhAeXqwb7RqctbXfNceRihAh6nDmn5HJ873uzoHvHxF45YmeWfgOKKRrNRLZjYsket2a7EsQ==',
    file: 'dist/index.js',
  },
  opencode: {
    name: 'opencode-linux-x64',
    version: presets.opencode.tested,
    checksum: 'sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==',
    file: 'bin/opencode',
  },
} as const;

/**
 * The file of a program in the cache folder, fetched on demand as Codex is; null where it is not there. The adapters of
 * Claude Code and Codex run the programs that the cache already has.
 */
async function fileOf({
  name,
  version,
  checksum,
  file,
}: (typeof packages)[keyof typeof packages]): Promise<string | null> {
  const wanted: WantedPackage = { name, version, isSmall: true };
  const inside = (folder: string): string => path.join(folder, 'node_modules', name, file);
  const isWhole = (folder: string): boolean => existsSync(inside(folder)) && checksumIn(folder, name) === checksum;
  if (areRealAgentsWanted()) await installPackage(wanted, isWhole);
  return isWhole(packageFolder(wanted)) ? inside(packageFolder(wanted)) : null;
}

/** npm compared it with what it fetched. */
function checksumIn(folder: string, name: string): unknown {
  const lock = JSON.parse(readFileSync(path.join(folder, 'node_modules', '.package-lock.json'), 'utf8'));
  return lock.packages[`node_modules/${name}`]?.integrity;
}

const notAtHand = (what: string): { readonly missing: string } => ({
  missing: `${what} is not at hand. BATON_REAL_AGENTS=1 gets it into the cache folder.`,
});

async function findClaudeAcp(): Promise<Found> {
  const claude = await findClaude();
  if ('missing' in claude) return claude;
  const file = await fileOf(packages.claude);
  if (file === null) return notAtHand('claude-agent-acp');
  return {
    preset: 'claude-agent-acp',
    version: packages.claude.version,
    file,
    command: `CLAUDE_CODE_EXECUTABLE='${claude.path}' '${process.execPath}' '${file}'`,
    byHand: claude.path,
    folder: packageFolder(packages.claude),
    startModel: startFakeAnthropic,
    login: (_home, url) => ({ ...fakeModelVariables(url), ANTHROPIC_MODEL: 'claude-opus-5-5' }),
    bash: (command) => ({ name: 'Bash', arguments: { command } }),
    asking: (command) => ({ name: 'Bash', arguments: { command } }),
    write: (file_path, content) => ({ name: 'Write', arguments: { file_path, content } }),
    delegate: (prompt) => ({
      name: 'Task',
      arguments: { description: 'look', prompt, subagent_type: 'general-purpose', run_in_background: false },
    }),
    question: (question) => ({
      name: 'AskUserQuestion',
      arguments: { questions: [{ ...question, multiSelect: false }] },
    }),
    own: (name, input) => ({ name: `mcp__baton__${name}`, arguments: input }),
  };
}

async function findCodexAcp(): Promise<Found> {
  const codex = await findCodex();
  if ('missing' in codex) return codex;
  const file = await fileOf(packages.codex);
  if (file === null) return notAtHand('codex-acp');
  return {
    preset: 'codex-acp',
    version: packages.codex.version,
    file,
    command: `CODEX_PATH='${codex.path}' '${process.execPath}' '${file}'`,
    byHand: codex.path,
    folder: packageFolder(packages.codex),
    startModel: startFakeOpenAi,
    login: (home, url) => {
      // Without this feature Codex asks in its plan mode only.
      const features = { default_mode_request_user_input: true };
      const made = codexHome(home, url, { model: 'gpt-5.5', sandboxMode: 'read-only', features });
      renameSync(made.home, path.join(home, '.codex'));
      return {};
    },
    bash: (command) => shell(command),
    // Other commands run in the sandbox, without a question.
    asking: (command) => shell(command, { sandbox_permissions: 'require_escalated', justification: 'It is needed.' }),
    write: (target, content) => ({
      custom: 'apply_patch',
      input: `*** Begin Patch\n*** Add File: ${target}\n${content.replaceAll(/^(?=.)/gm, '+')}*** End Patch\n`,
    }),
    delegate: (message) => ({ name: 'spawn_agent', namespace: 'multi_agent_v1', arguments: { message } }),
    question: (question) => ({
      name: 'request_user_input',
      arguments: { questions: [{ id: 'first', ...question }] },
    }),
    own: (name, input) => ({ name, namespace: 'mcp__baton', arguments: input }),
  };
}

async function findOpencode(): Promise<Found> {
  if (`${process.platform}-${process.arch}` !== 'linux-x64')
    return { missing: `The tests have no OpenCode for ${process.platform}-${process.arch}.` };
  const file = await fileOf(packages.opencode);
  if (file === null) return notAtHand('OpenCode');
  return {
    preset: 'opencode',
    version: packages.opencode.version,
    file,
    // The tests keep Baton's own state elsewhere, and the preset knows the usual folders.
    command: `env -u XDG_STATE_HOME '${file}' acp`,
    byHand: file,
    folder: packageFolder(packages.opencode),
    startModel: startFakeAnthropic,
    login: (_home, url) => ({
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
      OPENCODE_CONFIG_CONTENT: JSON.stringify(opencodeConfig(url)),
    }),
    bash: (command) => ({ name: 'bash', arguments: { command, description: 'a command' } }),
    asking: (command) => ({ name: 'bash', arguments: { command, description: 'a command' } }),
    write: (filePath, content) => ({ name: 'write', arguments: { filePath, content } }),
    delegate: (prompt) => ({ name: 'task', arguments: { description: 'look', prompt, subagent_type: 'general' } }),
    own: (name, input) => ({ name: `baton_${name}`, arguments: input }),
  };
}

function opencodeConfig(url: string): object {
  const limit = { context: 128_000, output: 8_192 };
  const models = { 'fake-model': { name: 'Fake', tool_call: true, reasoning: true, limit } };
  const options = { baseURL: `${url}/v1`, apiKey: 'not-a-key' };
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'fake/fake-model',
    small_model: 'fake/fake-model',
    permission: { bash: 'ask' },
    provider: { fake: { npm: '@ai-sdk/anthropic', name: 'Fake', options, models } },
  };
}

const finders = { 'claude-agent-acp': findClaudeAcp, 'codex-acp': findCodexAcp, opencode: findOpencode };

/** Each start reads a large program, which a busy machine does slowly. */
const suiteTimeoutMs = 240_000;

/**
 * A suite on each real program. Without a program its suite is skipped with the reason; if real agents are required, it
 * fails instead. gemini is not among them: the fakes do not speak its API.
 */
export async function describeWithAcp(
  title: string,
  suite: (program: AcpProgram) => void,
  names = Object.keys(finders) as readonly AcpProgram['preset'][],
): Promise<void> {
  for (const name of names) {
    const found = await finders[name]().catch((error: unknown) => ({ missing: String(error) }));
    const whole = `${title}, with ${name}`;
    if (!('missing' in found)) {
      describe(`${whole} ${found.version}`, { timeout: suiteTimeoutMs }, () => suite(found));
      continue;
    }
    if (areRealAgentsWanted()) throw new Error(found.missing);
    // The reporter shows how many tests are skipped, not which.
    console.warn(`skipped: ${whole}. ${found.missing}`);
    describe.skip(whole);
  }
}
