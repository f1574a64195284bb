import type { AgentBackend } from '../backend.ts';
import { createCodexAgent } from './codex-agent.ts';
import { codexOptions } from './codex-options.ts';
import { checkCodex } from './doctor/check-codex.ts';
import { codexProfile } from './profile.ts';
import { codexKeyLoginCommand, codexLoginCommand, codexResumeCommand } from './resume-command.ts';
import { sandboxModeOf } from './session/policies.ts';
import { codexSettings } from './settings.ts';

/** Codex by its app server. */
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
        'It asks for no permission, what its sandbox forbids fails; codex.approval_policy: on-request makes it ask.',
    },
    firstSteps: [`${codexLoginCommand(null)}     # with a key: ${codexKeyLoginCommand(null)}`],
    usesTools: true,
    writesTemporaryFiles: true,
    notes: [
      'Codex may write in its workspace and where temporary files are, without network, and asks for no permission:',
      '  what its sandbox forbids fails. To be asked instead (`baton ask list`), set codex.approval_policy: on-request.',
    ],
  },
  resume: (session, settings) => {
    const { turnSandboxPolicy, threadSandbox } = codexSettings(settings);
    return codexResumeCommand({ ...session, sandbox: sandboxModeOf(turnSandboxPolicy, threadSandbox) });
  },
  needs: {
    paths: ['~/.codex'],
    // The first host serves API keys, the others serve ChatGPT logins.
    hosts: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
  },
  hasReadOnlyMode: true,
  commitsWork: true,
  docs: 'docs/agents/codex.md',
};
