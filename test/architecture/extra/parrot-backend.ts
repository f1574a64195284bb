import type { AgentSession, SessionRequest } from '../../../src/agent/agent.ts';
import type { AgentBackend } from '../../../src/agent/backend.ts';
import { passed } from '../../../src/core/finding.ts';

/** An agent that Baton does not have: it closes its issue with a tool, without a process. */
export const parrotBackend: AgentBackend = {
  name: 'parrot',
  environment: ['PARROT_*'],
  homeVariable: null,
  reports: 'if_told',
  create: (_settings, { clock }) => ({
    backend: 'parrot',
    startSession: async (request) => {
      request.onEvent({ name: 'session_started', at: clock.now(), pid: null, summary: 'hello' });
      return session(request);
    },
  }),
  doctor: async ({ host }) => [passed('parrot', 'it talks', { version: host.version })],
  init: { about: 'of a test', questions: [], settings: () => ({}), writesTemporaryFiles: false },
  resume: ({ workspace, threadId }) => `parrot ${workspace} ${threadId}`,
  needs: () => ({ paths: ['~/.parrot'], hosts: ['parrot.example'] }),
  hasReadOnlyMode: true,
  commitsWork: false,
  docs: 'docs/agents/parrot.md',
};

function session({ tools }: SessionRequest): AgentSession {
  return {
    threadId: 'a-thread',
    isResumed: false,
    pid: null,
    remembersTurns: true,
    runTurn: async () => {
      const { success, output } = await tools.call('update_issue_status', { status: 'closed' });
      return success ? { status: 'completed', message: output } : { status: 'input_required', question: output };
    },
    stop: async () => {},
  };
}
