import type { ComponentChildren, VNode } from 'preact';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { hasSeveralProjects } from '../../data/connection/live.ts';
import { issueHref } from '../../data/page/router.ts';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';

interface RowProps {
  readonly project: string;
  readonly row: {
    readonly issue_id: string | null;
    readonly issue_identifier: string | null;
    readonly title: string | null;
  };
  readonly tone: Tone;
  readonly word: string;
  readonly time: ComponentChildren;
  /** The text below the title. */
  readonly what?: ComponentChildren;
  readonly facts?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly below?: ComponentChildren;
  /** The row is out of date and stays only because the user types below it; its other content is not shown. */
  readonly isGone?: boolean;
}

const over: Pick<RowProps, 'tone' | 'word' | 'time' | 'what' | 'facts' | 'actions'> = {
  tone: 'waiting',
  word: 'moved on',
  time: null,
};

/** One line of a timetable: the time, the issue, its status, its description, and the actions. */
export function Row({ project, row, below, isGone = false, ...live }: RowProps): VNode {
  const { issue_identifier: identifier, title } = row;
  const { tone, word, time, what, facts, actions } = isGone ? over : live;
  return (
    <li
      class={`row tone ${tone}`}
      data-row-of
      data-issue={row.issue_id === null ? undefined : `${project}/${row.issue_id}`}
    >
      <div class="time">{time}</div>
      <div class="issue">
        {identifier !== null && (
          <a
            href={issueHref(project, identifier)}
            data-row
            aria-label={`${harmlessLine(identifier)}: ${harmlessLine(title ?? '')}`}
          >
            <Text text={identifier} />
          </a>
        )}
        {hasSeveralProjects.value && (
          <small>
            <Text text={project} />
          </small>
        )}
      </div>
      <div class="state">
        <Status tone={tone} word={word} />
      </div>
      <div class="what">
        {title !== null && (
          <p class="title">
            <Text text={title} />
          </p>
        )}
        {what}
      </div>
      <div class="facts">{facts}</div>
      {/* Before the buttons, so that Tab comes to a question before it comes to the end of its run. */}
      <div class="below">{below}</div>
      <div class="do">{actions}</div>
    </li>
  );
}
