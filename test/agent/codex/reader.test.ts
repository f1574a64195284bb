import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { approvalOf } from '../../../src/agent/codex/requests/approval.ts';
import {
  elicitedAnswerOf,
  elicitedApprovalOf,
  elicitedQuestionOf,
} from '../../../src/agent/codex/requests/elicitation.ts';
import { inputAnswerOf, inputQuestionOf, toolApprovalOf } from '../../../src/agent/codex/requests/user-input.ts';
import { codexError } from '../../../src/agent/codex/turn/codex-error.ts';
import { summaryOfFrame } from '../../../src/agent/codex/turn/event-summary.ts';
import { quotaWindowsIn } from '../../../src/agent/codex/turn/quota-windows.ts';
import { TokenMeter } from '../../../src/agent/codex/turn/token-usage.ts';
import { neededInput, turnEndOf } from '../../../src/agent/codex/turn/turn-end.ts';
import { readFrame } from '../../../src/agent/codex/wire/frame.ts';
import { runs } from '../../property-runs.ts';

const now = 1_700_000_000_000;
const surroundings = { windows: [], now, home: null };

const names = [
  ...['item', 'type', 'text', 'command', 'changes', 'path', 'diff', 'status', 'turn', 'error', 'message', 'questions'],
  ...['id', 'options', 'label', 'tokenUsage', 'total', 'msg', 'info', 'rateLimits', 'primary', 'usedPercent', 'plan'],
  ...['codexErrorInfo', 'permissions', '_meta', 'requestedSchema', 'properties', 'toString', 'params', 'activeFlags'],
];
const methods = [
  ...['item/started', 'item/completed', 'turn/completed', 'turn/failed', 'turn/plan/updated', 'turn/diff/updated'],
  ...['thread/status/changed', 'account/rateLimits/updated', 'mcpServer/startupStatus/updated', 'error', 'warning'],
  ...['configWarning', 'codex/event/error', 'item/commandExecution/requestApproval', 'applyPatchApproval'],
  ...['item/permissions/requestApproval', 'execCommandApproval', 'item/fileChange/requestApproval', 'turn/new'],
];
/** JSON with the keys that Baton reads and any values. */
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5 },
    fc.constantFrom<unknown>(null, true, 0, -1, 1e300, '', 'agentMessage', 'fileChange', 'completed', 'failed'),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie('tree'), { maxKeys: 6, noNullPrototype: true }),
  ),
}));
const fields = fc.dictionary(fc.constantFrom(...names), tree, { maxKeys: 8, noNullPrototype: true });

describe('the reader of Codex frames', () => {
  it('never throws, for any frame', () => {
    fc.assert(
      fc.property(fc.constantFrom(...methods), fields, (method, params) => {
        const whole = { method, params };
        expect(readFrame(JSON.stringify(whole))).toMatchObject({ kind: 'notification', method });
        summaryOfFrame(method, params);
        quotaWindowsIn(params, now);
        new TokenMeter().read(method, params, whole);
        turnEndOf(method, params, null, surroundings, whole);
        neededInput(method, params, whole, false);
        approvalOf(method, params, params)?.answer('accept');
        toolApprovalOf(method, params)?.answer('decline');
        inputQuestionOf(params);
        inputAnswerOf(params, null);
        elicitedApprovalOf(method, params)?.answer('accept');
        elicitedQuestionOf(params);
        elicitedAnswerOf(params, { decision: 'accept', values: { id: 'x' } });
        codexError(params, surroundings);
      }),
      { numRuns: runs(3_000) },
    );
  });

  it('distinguishes a frame, other JSON, and text that is not JSON', () => {
    fc.assert(fc.property(fc.string(), (text) => void readFrame(text)));
    expect(readFrame('{"id":0,"result":null}')).toMatchObject({ kind: 'answer', id: 0 });
    expect(readFrame('{"id":"a","method":"m"}')).toMatchObject({ kind: 'request', id: 'a', params: {} });
    expect(readFrame('{"id":null,"method":"m","params":[1]}')).toMatchObject({ kind: 'notification', params: {} });
    expect(readFrame('{"id":1}')).toMatchObject({ kind: 'other' });
    expect(readFrame('[]')).toMatchObject({ kind: 'other' });
    expect(readFrame('{')).toBeNull();
  });

  it.each([
    ['item/started', { item: { type: 'commandExecution', command: 'npm test' } }, /npm test/],
    ['item/completed', { item: { type: 'commandExecution', command: 'ls', exitCode: 2 } }, /ls.*\b2\b/],
    ['item/completed', { item: { type: 'fileChange', status: 'completed', changes: [{ path: 'a.ts' }] } }, /a\.ts/],
    ['error', { error: { message: 'Reconnecting' }, willRetry: true }, /Reconnecting/],
    ['turn/plan/updated', { plan: [{ step: 'one', status: 'inProgress' }, { step: 'two' }] }, /\b2\b.*one/],
    ['turn/diff/updated', { diff: '--- a\n+++ b\n+x\n+y\n-z' }, /\b2\b.*\b1\b/],
    ['thread/status/changed', { status: { type: 'active', activeFlags: ['waitingOnApproval'] } }, /\S/],
    ['hook/startedSomething', {}, /^hook started something$/],
  ])('summarizes %s %j in one line', (method, params, carried) => {
    expect(summaryOfFrame(method, params)).toMatch(carried);
    expect(summaryOfFrame(method, params)).not.toContain('\n');
  });

  it('shows nothing for messages of Baton itself, and for a thread that waits for no one', () => {
    expect(summaryOfFrame('item/completed', { item: { type: 'userMessage' } })).toBeNull();
    expect(summaryOfFrame('thread/status/changed', { status: { type: 'idle' } })).toBeNull();
  });

  it('distinguishes an error that Codex retries from one that it does not', () => {
    const [passing, final] = [true, false].map((willRetry) =>
      summaryOfFrame('error', { error: { message: 'Reconnecting' }, willRetry }),
    );
    expect(passing).not.toBe(final);
  });

  // @conforms X3
  it('reads quota in both spellings, and ignores windows that were not reported (X3)', () => {
    const camel = {
      rateLimits: {
        limitId: 'codex',
        primary: { usedPercent: 5, windowDurationMins: 300, resetsAt: now / 1000 + 17 },
        secondary: null,
      },
    };
    const snake = {
      msg: {
        rate_limits: { limit_id: 'mini', secondary: { used_percent: 7.5, window_minutes: 60, resets_in_seconds: 9 } },
      },
    };
    expect(quotaWindowsIn(camel, now)).toEqual([
      { name: 'primary', usedPercent: 5, windowMinutes: 300, resetsAt: now + 17_000 },
    ]);
    expect(quotaWindowsIn(snake, now)).toEqual([
      { name: 'mini secondary', usedPercent: 7.5, windowMinutes: 60, resetsAt: now + 9_000, isOther: true },
    ]);
    expect(quotaWindowsIn({ rateLimits: { primary: null } }, now)).toEqual([]);
  });
});
