import type { Settings } from '../../core/settings.ts';
import type { AgentBackend } from '../backend.ts';
import { programsIn } from '../programs-in.ts';
import { createCodexAgent } from './codex-agent.ts';
import { codexOptions } from './codex-options.ts';
import { checkCodex } from './doctor/check-codex.ts';
import { codexHomeParts } from './home-parts.ts';
import { codexProfile } from './profile.ts';
import { codexKeyLoginCommand, codexLoginCommand, codexResumeCommand } from './resume-command.ts';
import { sandboxModeOf } from './session/policies.ts';
import { codexSettings } from './settings.ts';

/** Codex, through its app server. */
export const codexBackend: AgentBackend = {
  ...codexProfile,
  create: (settings, parts, host) => createCodexAgent(codexOptions(settings, host), parts),
  doctor: (parts) => checkCodex(codexOptions(parts.settings, parts.host), parts),
  init: {
    about: null,
    questions: [],
    settings: () => ({}),
    comments: {
      backend:
        'Codex never asks for permission: actions outside its sandbox fail. To let it ask, set codex.approval_policy: on-request.',
    },
    firstSteps: [`${codexLoginCommand(null)}     # with a key: ${codexKeyLoginCommand(null)}`],
    writesTemporaryFiles: true,
    notes: [
      'Codex may write in its workspace and in the folder for temporary files, and has no network. It never asks for permission:',
      '  other actions fail. To let it ask you (`baton ask list`), set codex.approval_policy: on-request.',
    ],
  },
  resume: (session, settings) => {
    const { turnSandboxPolicy, threadSandbox } = codexSettings(settings);
    return codexResumeCommand({ ...session, sandbox: sandboxModeOf(turnSandboxPolicy, threadSandbox) });
  },
  needs: (settings) => ({
    paths: [homeIn(settings) ?? '~/.codex'],
    parts: codexHomeParts,
    programs: settings === null ? [] : programsIn(codexSettings(settings).command),
    // The first host serves API keys, the others serve ChatGPT logins.
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
  }),
  hasReadOnlyMode: true,
  commitsWork: true,
  docs: 'docs/agents/codex.md',
};

/** The folder of Codex that the command sets itself. */
function homeIn(settings: Settings | null): string | undefined {
  const set =
    settings === null ? null : /\bCODEX_HOME=(?:'([^']+)'|"([^"]+)"|([^\s'"]+))/.exec(codexSettings(settings).command);
  return set?.[1] ?? set?.[2] ?? set?.[3];
}
