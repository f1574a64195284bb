// @module-tag full
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { CodexAgentOptions } from '../../../src/agent/codex/codex-options.ts';
import type { AgentQuestion, QuestionAnswer } from '../../../src/core/command/question.ts';
import { type Step, shell } from '../../fake/openai/scenario.ts';
import { describeWithCodex } from '../codex-binary.ts';
import { useCodexScenes } from './codex-scene.ts';

const tellOutput: Step = { message: ({ lastOutput }) => lastOutput };
const writeFile: Step = { calls: [shell('echo made > made.txt && echo it is made')] };
const escalate: Step = {
  calls: [
    shell('echo made > made.txt', { sandbox_permissions: 'require_escalated', justification: 'It has to be made.' }),
  ],
};
const patch: Step = {
  calls: [{ custom: 'apply_patch', input: '*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n' }],
};
const confined: Partial<CodexAgentOptions> = {
  threadSandbox: 'workspace-write',
  turnSandboxPolicy: { type: 'workspaceWrite', writableRoots: [] },
};
const readOnly: Partial<CodexAgentOptions> = { threadSandbox: 'read-only', turnSandboxPolicy: { type: 'readOnly' } };
const yes: QuestionAnswer = { decision: 'accept', values: {} };
const no: QuestionAnswer = { decision: 'decline', values: {} };

await describeWithCodex('questions of a real Codex', (codex) => {
  const makeScene = useCodexScenes(codex);

  // @conforms real.10
  it.each([
    ['a command that is not trusted', 'untrusted', writeFile, confined, 'command'],
    ['a command outside of the sandbox', 'on-request', escalate, confined, 'command'],
    ['a change where nothing may be written', 'on-request', patch, readOnly, 'file_change'],
  ] as const)('does %s only when a person allows it', async (_, approvalPolicy, step, box, kind) => {
    for (const answer of [yes, no]) {
      const scene = await makeScene({
        home: { model: 'gpt-5.5' },
        scenario: { otherwise: [step, tellOutput] },
        options: { ...box, approvalPolicy, approvals: 'ask' },
        person: () => answer,
      });
      const { session, asked } = await scene.open();
      const result = await session.runTurn('Make it.');
      expect(asked).toMatchObject([{ kind, text: expect.any(String) }]);
      expect(`${asked[0]?.text}\n${asked[0]?.detail}`).toContain('made.txt');
      expect(existsSync(path.join(scene.workspace, 'made.txt'))).toBe(answer.decision === 'accept');
      // An agent that is refused gets the refusal and continues.
      expect(result).toMatchObject({ status: 'completed' });
    }
  });

  it.each([
    ['auto', true],
    ['deny', false],
  ] as const)('asks nobody when the approvals are %s', async (approvals, isMade) => {
    const scene = await makeScene({
      scenario: { otherwise: [writeFile, tellOutput] },
      options: { ...confined, approvalPolicy: 'untrusted', approvals },
      person: () => yes,
    });
    const { complete, asked, names } = await scene.open();
    await complete('Make it.');
    expect(asked).toEqual([]);
    expect(existsSync(path.join(scene.workspace, 'made.txt'))).toBe(isMade);
    expect(names().includes('approval_auto_approved')).toBe(isMade);
  });

  it('declines when no one answers', async () => {
    const scene = await makeScene({
      scenario: { otherwise: [writeFile, tellOutput] },
      options: { ...confined, approvalPolicy: 'untrusted' },
    });
    const { session, asked } = await scene.open();
    await session.runTurn('Make it.');
    expect(asked).toHaveLength(1);
    expect(existsSync(path.join(scene.workspace, 'made.txt'))).toBe(false);
  });

  // @conforms real.11
  it('starts a thread with the default approval policy of Symphony, and asks nothing', async () => {
    const reject = { sandbox_approval: true, rules: true, mcp_elicitations: true };
    const scene = await makeScene({
      scenario: { otherwise: [escalate, tellOutput] },
      options: { ...confined, approvalPolicy: { reject } },
      person: () => yes,
    });
    const { complete, asked } = await scene.open();
    expect(await complete('Make it.')).toContain('reject');
    expect(asked).toEqual([]);
    expect(existsSync(path.join(scene.workspace, 'made.txt'))).toBe(false);
  });

  const question = {
    id: 'colour',
    header: 'Colour',
    question: 'Which colour shall the door have?',
    options: [
      { label: 'Red', description: 'As before.' },
      { label: 'Blue', description: 'As the sky.' },
    ],
  };
  const askColour: Step = { calls: [{ name: 'request_user_input', arguments: { questions: [question] } }] };

  // @conforms real.12
  it('passes a question to a person and the answer to the model, and does not count the wait as silence', async () => {
    const scene = await makeScene({
      home: { features: { default_mode_request_user_input: true } },
      scenario: { otherwise: [askColour, tellOutput] },
      options: { turnTimeoutMs: 3_000 },
      person: async (asked: AgentQuestion) => {
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        return { decision: 'accept', values: { [asked.fields[0]?.name ?? '']: 'Blue' } };
      },
    });
    const { complete, asked } = await scene.open();
    expect(await complete('Paint it.')).toContain('Blue');
    expect(asked).toMatchObject([
      { kind: 'input', fields: [{ options: ['Red', 'Blue'], allowsOther: true, isSecret: false }] },
    ]);
    expect(JSON.stringify(asked)).toContain('Which colour shall the door have?');
  });

  it('withdraws a question when the turn is cancelled', async () => {
    let takenBack = false;
    const scene = await makeScene({
      home: { features: { default_mode_request_user_input: true } },
      scenario: { otherwise: [askColour, tellOutput] },
    });
    const giveUp = new AbortController();
    const { session } = await scene.open({
      ask: (_, signal) =>
        new Promise((resolve) => {
          signal?.addEventListener('abort', () => {
            takenBack = true;
            resolve(null);
          });
          giveUp.abort();
        }),
    });
    expect(await session.runTurn('Paint it.', giveUp.signal)).toEqual({ status: 'cancelled' });
    await expect.poll(() => takenBack).toBe(true);
  });
});
