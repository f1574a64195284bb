import type { Step } from '../../fake/app-server/scenario.ts';

/** May a command be run? (A10) */
export const mayRun: Step = {
  ask: { id: 99, method: 'item/commandExecution/requestApproval', params: { itemId: 'i', command: 'gh pr view' } },
};
const option = (label: string): { label: string; description: string } => ({ label, description: '' });
export const toolQuestion = 'mcp_tool_call_approval_call-717';
/** May a tool be called? Asked as a question with options (A13). */
export const mayCall: Step = {
  ask: {
    id: 110,
    method: 'item/tool/requestUserInput',
    params: {
      itemId: 'i',
      questions: [
        {
          id: toolQuestion,
          header: 'Approve',
          question: 'Allow this action?',
          isOther: false,
          isSecret: false,
          options: ['Approve Once', 'Approve this Session', 'Deny', 'Cancel'].map(option),
        },
      ],
    },
  },
};
/** A question that only a person can answer (A14). */
export const freeform = (id: number): Step => ({
  ask: {
    id,
    method: 'item/tool/requestUserInput',
    params: {
      itemId: 'i',
      questions: [{ id: 'which', header: 'Colour', question: 'Which colour?', options: null, isSecret: false }],
    },
  },
});
/** An older Codex needs to be told something (A7). */
export const inputRequired: Step = {
  send: { method: 'turn/input_required', id: 'resp-1', params: { requiresInput: true, message: 'Which door?' } },
};
/** A tool server wants to know something, without an id to answer to (A8). */
export const elicitation: Step = {
  send: { method: 'mcpServer/elicitation/request', params: { serverName: 'shop', message: 'Which size?' } },
};

/** A question by Baton's own tool. */
export const asksByTool: Step = {
  ask: {
    id: 130,
    method: 'item/tool/call',
    params: { callId: 'c', tool: 'ask_person', arguments: { question: 'Left or right?', options: ['left', 'right'] } },
  },
};
