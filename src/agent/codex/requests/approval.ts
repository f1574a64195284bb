import type { AgentQuestion, QuestionAnswer, QuestionKind } from '../../../core/command/question.ts';
import { harmlessLines } from '../../../core/text/harmless-line.ts';
import { changedFiles } from '../turn/event-summary.ts';
import type { CodexAnswer, CodexResult } from '../wire/connection.ts';
import { type Fields, fieldsOf, isFields, listOf, shown, textOf } from '../wire/fields.ts';
import type { GrantedPermissionProfile, ReviewDecision } from '../wire/protocol.ts';

export type Decision = QuestionAnswer['decision'];

/** A request of Codex for permission: the question for a person, and the answer to Codex for each decision. */
export interface Approval {
  readonly question: AgentQuestion;
  readonly answer: (decision: Decision) => CodexAnswer;
}

const longestDetail = 8_192;

/** The approval that a request asks for, or null for any other request. `changes` is the item of a file change. */
export function approvalOf(method: string, params: Fields, changes: Fields | null): Approval | null {
  switch (method) {
    case 'item/commandExecution/requestApproval':
      return approval(commandQuestion(textOf(params.command), params), (decision) => ({
        decision: newWords[decision],
      }));
    case 'item/fileChange/requestApproval':
      return approval(changeQuestion(changes, params), (decision) => ({ decision: newWords[decision] }));
    case 'execCommandApproval': {
      const command = listOf(params.command).map(shown).join(' ');
      return approval(commandQuestion(command, params), (decision) => ({ decision: olderWords[decision] }));
    }
    case 'applyPatchApproval': {
      const item = { changes: Object.keys(fieldsOf(params.fileChanges)).map((path) => ({ path })) };
      return approval(changeQuestion(item, params), (decision) => ({ decision: olderWords[decision] }));
    }
    case 'item/permissions/requestApproval':
      return approval(permissionQuestion(params), (decision) => ({
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

function approval(question: AgentQuestion, result: (decision: Decision) => CodexResult): Approval {
  return { question, answer: (decision) => ({ result: result(decision) }) };
}

function commandQuestion(command: string | null, params: Fields): AgentQuestion {
  const network = fieldsOf(params.networkApprovalContext).host;
  const what = command === null || command === '' ? `reach ${textOf(network) ?? 'the network'}` : `run: ${command}`;
  return question('command', `Codex wants to ${what}`, [
    ...line('Command', command),
    ...line('Directory', textOf(params.cwd)),
    ...line('Host', textOf(network)),
    ...line('Reason', textOf(params.reason)),
  ]);
}

function changeQuestion(item: Fields | null, params: Fields): AgentQuestion {
  const diffs = listOf(item?.changes).map((change) => {
    const { path, diff } = fieldsOf(change);
    return `${textOf(path) ?? '?'}\n${textOf(diff) ?? ''}`;
  });
  return question('file_change', `Codex wants to change ${item === null ? 'files' : changedFiles(item)}`, [
    ...line('Reason', textOf(params.reason)),
    ...line('Also everything in', textOf(params.grantRoot)),
    ...diffs,
  ]);
}

function permissionQuestion(params: Fields): AgentQuestion {
  const wanted = JSON.stringify(granted(fieldsOf(params.permissions)), null, 2);
  return question('permission', `Codex wants more permissions: ${wanted}`, [
    ...line('Reason', textOf(params.reason)),
    ...line('Directory', textOf(params.cwd)),
    wanted,
  ]);
}

/** The permissions that Codex asked for, unchanged: Codex accepts what it named itself. */
function granted(asked: Fields): GrantedPermissionProfile {
  return Object.fromEntries(
    ['network', 'fileSystem'].filter((name) => isFields(asked[name])).map((name) => [name, asked[name]]),
  );
}

/** A question whose text is harmless and bounded in length. */
export function question(kind: QuestionKind, text: string, detail: readonly string[]): AgentQuestion {
  const lines = harmlessLines(detail.join('\n')).trim();
  const short = lines.length <= longestDetail ? lines : `${lines.slice(0, longestDetail)}\n…`;
  return { kind, text: oneLine(text), detail: short, fields: [] };
}

/** Text on one line, short enough for a person to read. */
export function oneLine(text: string): string {
  const flat = harmlessLines(text).replaceAll(/\s+/g, ' ').trim();
  return flat.length <= 500 ? flat : `${flat.slice(0, 499)}…`;
}

function line(label: string, value: string | null): string[] {
  return value === null || value === '' ? [] : [`${label}: ${value}`];
}
