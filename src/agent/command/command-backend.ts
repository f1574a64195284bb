import { BatonError } from '../../core/baton-error.ts';
import { type Finding, failed, passed } from '../../core/finding.ts';
import { type Section, setting } from '../../core/settings/setting.ts';
import type { Settings } from '../../core/settings.ts';
import { childEnvironment, usualVariables } from '../../process/child-environment.ts';
import { runToEnd } from '../../process/run-to-end.ts';
import type { AgentBackend, AgentDoctorParts } from '../backend.ts';
import { checkGitIdentity } from '../git-identity.ts';
import { createCommandAgent } from './command-agent.ts';
import { needsOf } from './known-programs.ts';

const name = 'command';
const checkTimeoutMs = 10_000;

const keys = {
  command: setting('non_blank_text', null, 'next run', 'guarded', {
    description: 'The shell command that the backend `command` runs as the agent. Required for that backend.',
    required: true,
    code: 'missing_agent_command',
  }),
};

/** Null in a file for another backend. */
export function commandOf({ backends }: Pick<Settings, 'backends'>): string | null {
  // `workflow/` parsed it with the key above.
  return (backends.command as Section<typeof keys>).command;
}

/** Any program as an agent. */
export const commandBackend: AgentBackend = {
  name,
  settings: { section: 'agent', keys },
  environment: [],
  homeVariable: null,
  reports: 'if_told',
  create: (settings, parts) => {
    const command = commandOf(settings);
    // The workflow check already requires it.
    if (command === null) throw new BatonError('missing_agent_command', 'agent.command is missing.');
    return createCommandAgent({ command, turnTimeoutMs: settings.agent.turnTimeoutMs }, parts);
  },
  doctor: async (parts) => [await checkProgram(parts), ...(await checkGitIdentity(parts))],
  init: {
    about: 'any program',
    questions: [
      {
        name: 'command',
        value: 'text',
        help: 'the shell command of the agent "command"',
        question: 'Shell command of the agent (it gets the prompt on standard input)?',
      },
    ],
    settings: ({ command }) => (command === undefined ? {} : { command }),
    toolsNote:
      'The tools are on the MCP server at the address in BATON_TOOLS_URL; the bearer token is in BATON_TOOLS_TOKEN.',
    writesTemporaryFiles: false,
  },
  needs: (settings) => (settings === null ? null : needsOf(commandOf(settings) ?? '')),
  hasReadOnlyMode: false,
  commitsWork: false,
  docs: 'docs/agents/command.md',
};

/**
 * A command is shell text. Its first word that is not an assignment is the program, and most often the one that is
 * missing. The check asks the shell that will run it, because the shell also knows `exec`, `cd` and the like.
 */
async function checkProgram({ settings, process, chance, env, cwd }: AgentDoctorParts): Promise<Finding> {
  const words = (commandOf(settings) ?? '').trim().split(/\s+/);
  const program = words.find((word) => !/^[A-Za-z_]\w*=/.test(word)) ?? '';
  const check = 'agent_program';
  if (!/^[\w./+@:-]+$/.test(program))
    return passed(check, `${name}: not checked, because the command starts with shell syntax: ${program}`, {
      code: 'not_tried',
    });
  const { code, stdout } = await runToEnd(
    {
      command: 'sh',
      args: ['-c', 'command -v "$1"', 'sh', program],
      cwd,
      env: childEnvironment({ from: env, allow: usualVariables, deny: [] }),
      runId: chance.id(),
      timeoutMs: checkTimeoutMs,
    },
    process,
  );
  if (code === 0) return passed(check, `${name}: ${stdout.trim()}`);
  const nextStep = `install ${program}, or change agent.command in the workflow file`;
  return failed(check, `${name}: "${program}" is not on the PATH`, nextStep, { code: 'not_on_path', program });
}
