import type { CommandRequest } from '../../../src/client/schema/command.ts';

/** Something that a person can do with an issue. */
export interface IssueAction {
  readonly name: string;
  readonly label: string;
  /** The question before the action; only where something ends. */
  readonly confirm?: string;
  /** The text that the user types for it. */
  readonly asks?: { readonly label: string; readonly isOptional: boolean; readonly send: string };
  /** `run` is the run that the person sees, if any. */
  readonly request: (issue: string, text: string, run?: string) => CommandRequest;
}

const retry: IssueAction = {
  name: 'issue_retry',
  label: 'Retry',
  request: (issue) => ({ kind: 'issue_retry', issue }),
};
const retryWithNote: IssueAction = {
  name: 'retry_with_note',
  label: 'Retry with a note…',
  asks: { label: 'Note to the agent', isOptional: false, send: 'Retry' },
  request: (issue, note) => ({ kind: 'issue_retry', issue, note }),
};

/** The commands of an issue, by their names; one of them has two ways. */
const actions: Readonly<Record<string, readonly IssueAction[]>> = {
  issue_retry: [retry, retryWithNote],
  issue_release: [{ name: 'issue_release', label: 'Release', request: (issue) => ({ kind: 'issue_release', issue }) }],
  issue_hold: [{ name: 'issue_hold', label: 'Hold', request: (issue) => ({ kind: 'issue_hold', issue }) }],
  issue_handback: [
    {
      name: 'issue_handback',
      label: 'Hand back…',
      asks: { label: 'What the agent should know', isOptional: true, send: 'Hand back' },
      request: (issue, note) => ({ kind: 'issue_handback', issue, ...(note === '' ? {} : { note }) }),
    },
  ],
  issue_steer: [
    {
      name: 'issue_steer',
      label: 'Steer…',
      asks: { label: 'Tell the agent', isOptional: false, send: 'Tell' },
      request: (issue, text) => ({ kind: 'issue_steer', issue, text }),
    },
  ],
  issue_comment: [
    {
      name: 'issue_comment',
      label: 'Comment…',
      asks: { label: 'Comment', isOptional: false, send: 'Comment' },
      request: (issue, text) => ({ kind: 'issue_comment', issue, text }),
    },
  ],
  issue_stop: [
    {
      name: 'issue_stop',
      label: 'Stop',
      confirm: 'End its run?',
      // One that began meanwhile is not meant.
      request: (issue, _, run) => ({ kind: 'issue_stop', issue, ...(run === undefined ? {} : { run }) }),
    },
  ],
  issue_takeover: [
    {
      name: 'issue_takeover',
      label: 'Take over',
      confirm: 'End the agent?',
      request: (issue) => ({ kind: 'issue_takeover', issue }),
    },
  ],
};

/** Something that a person can do with a whole project, offered where something waits that is about no issue. */
export interface ProjectAction {
  readonly label: string;
  readonly confirm: string;
  readonly request: CommandRequest;
}

const ofProject: Readonly<Record<string, ProjectAction>> = {
  // There it costs as much again as the day was to cost.
  resume: { label: 'Resume', confirm: 'Allow as much again?', request: { kind: 'resume' } },
};

/** The same for a whole project. */
export function projectActionsNamed(names: readonly string[]): readonly ProjectAction[] {
  return names.flatMap((name) => (Object.hasOwn(ofProject, name) ? (ofProject[name] ?? []) : []));
}

/** An action by its own name, whether it is offered now or not. */
export function actionNamed(name: string): IssueAction | null {
  return (
    Object.values(actions)
      .flat()
      .find((action) => action.name === name) ?? null
  );
}

/** The actions behind the daemon's names, in its order; names without a button here are left out. */
export function actionsNamed(names: readonly string[]): readonly IssueAction[] {
  return names.flatMap((name) => (Object.hasOwn(actions, name) ? (actions[name] ?? []) : []));
}
