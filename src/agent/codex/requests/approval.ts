import { exactBlock, exactLine } from '../../../core/text/exact-text.ts';
import { shellArgument } from '../../../core/text/shell-argument.ts';
import {
  type Approval as AnyApproval,
  approvalFor as approvalOfRequest,
  block,
  type Decision,
  type Facts,
  json,
  line,
} from '../../questions/approval.ts';
import { type Fields, fieldsOf, isFields, listOf, shown, textOf } from '../../wire/fields.ts';
import type { CodexAnswer, CodexResult } from '../wire/connection.ts';
import type { GrantedPermissionProfile, ReviewDecision } from '../wire/protocol.ts';

export type Approval = AnyApproval<CodexAnswer>;

/** The approval that a request asks for, or null for any other request. `changes` is the item of a file change. */
export function approvalOf(method: string, params: Fields, changes: Fields | null): Approval | null {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return approval(method, params, commandFacts(textOf(params.command), params), (decision) => ({
        decision: newWords[decision],
      }));
    case 'item/fileChange/requestApproval':
      return approval(
        method,
        { ...params, changes: changes?.changes },
        changeFacts(changes?.changes, params),
        (decision) => ({
          decision: newWords[decision],
        }),
      );
    case 'execCommandApproval': {
      const command = listOf(params.command).map(shown).map(shellArgument).join(' ');
      return approval(method, params, commandFacts(command, params), (decision) => ({
        decision: olderWords[decision],
      }));
    }
    case 'applyPatchApproval': {
      const changes = Object.entries(fieldsOf(params.fileChanges)).map(([path, change]) => ({
        ...fieldsOf(change),
        path,
      }));
      return approval(method, params, changeFacts(changes, params), (decision) => ({ decision: olderWords[decision] }));
    }
    case 'item/permissions/requestApproval':
      return approval(method, params, permissionFacts(params), (decision) => ({
        permissions: decision === 'decline' ? {} : granted(fieldsOf(params.permissions)),
        scope: decision === 'accept_for_session' ? 'session' : 'turn',
      }));
    default:
      return null;
  }
}

const newWords = { accept: 'accept', accept_for_session: 'acceptForSession', decline: 'decline' } as const;

const olderWords: Readonly<Record<Decision, ReviewDecision>> = {
  accept: 'approved',
  accept_for_session: 'approved_for_session',
  decline: { denied: { rejection: 'This request was declined. Continue without it.' } },
};

function approval(method: string, params: Fields, facts: Facts, result: (decision: Decision) => CodexResult): Approval {
  return approvalFor(method, params, facts, (decision) => ({ result: result(decision) }));
}

/** Fields that only name a request or repeat it: they say nothing about what would be done, and change with each run. */
const namesOnly = ['threadId', 'turnId', 'itemId', 'callId', 'approvalId', 'conversationId', 'startedAtMs'];
/** Fields that describe the command again, or offer decisions that Baton never takes. */
const repeats = ['commandActions', 'parsedCmd', 'proposedExecpolicyAmendment', 'proposedNetworkPolicyAmendments'];
const offers = ['availableDecisions'];

/** The approval that shows a request of Codex whole, or says why it cannot. */
export function approvalFor(method: string, params: Fields, facts: Facts, answer: Approval['answer']): Approval {
  const about = Object.entries(params).filter(([name]) => !namesOnly.includes(name));
  const shownFields = [...facts.shown, ...repeats, ...offers];
  return approvalOfRequest(method, Object.fromEntries(about), { ...facts, shown: shownFields }, answer);
}

function commandFacts(command: string | null, params: Fields): Facts {
  const host = textOf(fieldsOf(params.networkApprovalContext).host);
  const hasCommand = command !== null && command !== '';
  const what = hasCommand ? `run ${exactLine(command)}` : `reach ${host === null ? 'the network' : exactLine(host)}`;
  return {
    kind: 'command',
    text: `Codex wants to ${what}`,
    detail: [
      ...(hasCommand ? block('Command', command) : []),
      ...line('Directory', params.cwd),
      ...line('Host', host),
      ...block('Reason', textOf(params.reason) ?? ''),
    ],
    shown: ['command', 'cwd', 'reason'],
    ...(hasCommand || host !== null ? {} : { missing: 'it names no command and no host' }),
  };
}

function changeFacts(changes: unknown, params: Fields): Facts {
  const all = listOf(changes).map(fieldsOf);
  const paths = all.map(({ path }) => exactLine(textOf(path) ?? '?'));
  return {
    kind: 'file_change',
    text: `Codex wants to change ${paths.join(', ') || 'files'}`,
    detail: [
      ...block('Reason', textOf(params.reason) ?? ''),
      ...line('Also everything in', params.grantRoot),
      ...all.flatMap(changeBlocks),
    ],
    shown: ['reason', 'grantRoot', 'changes', 'fileChanges'],
    ...(all.length > 0 ? {} : { missing: 'Codex did not say which files it wants to change' }),
  };
}

/** One changed file: its path, its new text or the difference, and everything else that Codex says of it. */
function changeBlocks({ path, diff, unified_diff: unified, content, ...others }: Fields): readonly string[] {
  const text = [diff, unified, content].find((each) => typeof each === 'string');
  return [
    `File: ${exactLine(textOf(path) ?? '?')}`,
    ...Object.entries(others).flatMap(([name, value]) => (value === null ? [] : line(exactLine(name), shown(value)))),
    ...(typeof text === 'string' && text !== '' ? [exactBlock(text)] : []),
  ];
}

function permissionFacts(params: Fields): Facts {
  const wanted = granted(fieldsOf(params.permissions));
  return {
    kind: 'permission',
    text: `Codex wants more permissions: ${exactLine(JSON.stringify(wanted))}`,
    detail: [
      ...block('Permissions', json(wanted)),
      ...line('Directory', params.cwd),
      ...block('Reason', textOf(params.reason) ?? ''),
    ],
    shown: ['permissions', 'cwd', 'reason'],
  };
}

/** The permissions that Codex asked for, unchanged: Codex accepts what it named itself. */
function granted(asked: Fields): GrantedPermissionProfile {
  return Object.fromEntries(
    ['network', 'fileSystem'].filter((name) => isFields(asked[name])).map((name) => [name, asked[name]]),
  );
}
