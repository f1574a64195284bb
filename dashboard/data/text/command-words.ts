import type { CommandRequest } from '../../../src/client/schema/command.ts';

/** Something that a person can do with an issue. */
export interface IssueAction {
  readonly name: string;
  readonly label: string;
  /** What it does, as a tooltip. */
  readonly hint: string;
  /** The question before the action; only for actions that end something. */
  readonly confirm?: string;
  /** The text that the user types for it. */
  readonly asks?: { readonly label: string; readonly isOptional: boolean; readonly send: string };
  /** The user also chooses an agent; only where the workflow file has several. */
  readonly choosesAgent?: boolean;
  /** `run` is the run that the person sees, if any. */
  readonly request: (issue: string, text: string, run?: string, agent?: string) => CommandRequest;
}

const retry: IssueAction = {
  name: 'issue_retry',
  label: 'Retry now',
  hint: 'Start the issue now, ahead of its turn, even if it is held or waiting',
  request: (issue) => ({ kind: 'issue_retry', issue }),
};
const retryWithNote: IssueAction = {
  name: 'retry_with_note',
  label: 'Retry with a note…',
  hint: 'Start the issue now and give the agent a note',
  asks: { label: 'Note to the agent', isOptional: false, send: 'Retry with this note' },
  request: (issue, note) => ({ kind: 'issue_retry', issue, note }),
};

const retryWithAgent: IssueAction = {
  name: 'retry_with_agent',
  label: 'Retry with another agent…',
  hint: 'Start the issue now with the agent that you choose, and keep it for its retries',
  asks: { label: 'Note to the agent', isOptional: true, send: 'Retry with this agent' },
  choosesAgent: true,
  request: (issue, note, _run, agent) => ({
    kind: 'issue_retry',
    issue,
    ...(note === '' ? {} : { note }),
    ...(agent === undefined ? {} : { agent }),
  }),
};

/** The actions for each command; `issue_retry` has several. */
const actions: Readonly<Record<string, readonly IssueAction[]>> = {
  issue_retry: [retry, retryWithNote, retryWithAgent],
  issue_release: [
    {
      name: 'issue_release',
      label: 'Release',
      hint: 'Lift the hold; the issue starts when its turn comes',
      request: (issue) => ({ kind: 'issue_release', issue }),
    },
  ],
  issue_hold: [
    {
      name: 'issue_hold',
      label: 'Hold',
      hint: 'Do not start the issue again until you release it; an agent that works on it continues',
      request: (issue) => ({ kind: 'issue_hold', issue }),
    },
  ],
  issue_handback: [
    {
      name: 'issue_handback',
      label: 'Hand back…',
      hint: 'Let an agent continue the issue that you took over',
      asks: { label: 'What the agent should know', isOptional: true, send: 'Hand back' },
      request: (issue, note) => ({ kind: 'issue_handback', issue, ...(note === '' ? {} : { note }) }),
    },
  ],
  issue_steer: [
    {
      name: 'issue_steer',
      label: 'Steer…',
      hint: 'Send a message to the running agent',
      asks: { label: 'Message to the agent', isOptional: false, send: 'Send' },
      request: (issue, text) => ({ kind: 'issue_steer', issue, text }),
    },
  ],
  issue_comment: [
    {
      name: 'issue_comment',
      label: 'Comment…',
      hint: 'Add a comment to the issue',
      asks: { label: 'Comment', isOptional: false, send: 'Add comment' },
      request: (issue, text) => ({ kind: 'issue_comment', issue, text }),
    },
  ],
  issue_stop: [
    {
      name: 'issue_stop',
      label: 'Stop',
      hint: 'End this run now. Its work stays, and the issue is held until you release it',
      confirm: 'Stop this run?',
      // The run that the user sees; never one that started meanwhile.
      request: (issue, _, run) => ({ kind: 'issue_stop', issue, ...(run === undefined ? {} : { run }) }),
    },
  ],
  issue_takeover: [
    {
      name: 'issue_takeover',
      label: 'Take over',
      hint: 'Stop the agent and continue by hand',
      confirm: 'Stop the agent and take over?',
      request: (issue) => ({ kind: 'issue_takeover', issue }),
    },
  ],
};

/** Something that a person can do with a whole project; offered in rows that belong to no issue. */
export interface ProjectAction {
  readonly label: string;
  readonly hint: string;
  readonly confirm: string;
  /** The command, with what the row says that it is about. */
  readonly request: (row: { readonly revision?: string | undefined }) => CommandRequest;
}

const ofProject: Readonly<Record<string, ProjectAction>> = {
  // After a limit of the day, `resume` allows the same amount again.
  resume: {
    label: 'Resume',
    hint: 'Start issues again today, with the same amount once more',
    confirm: 'Allow the same amount again?',
    request: () => ({ kind: 'resume' }),
  },
  reload: {
    label: 'Let them count',
    hint: 'Use the changed values of the workflow file from now on',
    confirm: 'Use the new values?',
    request: ({ revision }) => ({ kind: 'reload', ...(revision === undefined ? {} : { revision }) }),
  },
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

/**
 * The actions behind the daemon's names, in its order; names without a button here are left out. `agents` are those of the
 * project that a person can choose among.
 */
export function actionsNamed(names: readonly string[], agents: readonly string[]): readonly IssueAction[] {
  return names
    .flatMap((name) => (Object.hasOwn(actions, name) ? (actions[name] ?? []) : []))
    .filter(({ choosesAgent }) => choosesAgent !== true || agents.length > 0);
}
