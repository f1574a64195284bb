import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { hasSeveralProjects } from '../../data/connection/live.ts';
import { type Activity, activityOf } from '../../data/issue/activity.ts';
import { actOnRow, queueActions } from '../../data/issue/queue-actions.ts';
import type { QueueRow as QueueRowFacts } from '../../data/issue/queue-rows.ts';
import { issueHref } from '../../data/page/router.ts';
import type { IssueAction } from '../../data/text/command-words.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { plainWords, sentences } from '../../data/text/words.ts';
import { Priority } from '../shared/priority.tsx';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { Countdown } from '../shared/time.tsx';
import { hint } from '../shared/tooltip.tsx';

/** All rows have the same height, so that only the visible ones are drawn. */
export const queueRowHeight = { wide: 48, narrow: 148 } as const;

interface QueueRowProps {
  readonly row: QueueRowFacts;
  readonly isTabStop: boolean;
}

/** One candidate: its place in the order, and why it does not start. */
export function QueueRow({ row, isTabStop }: QueueRowProps): VNode {
  const { project, place, candidate } = row;
  const { issue_id, issue_identifier: identifier, title, state, priority, reason, next_check_at } = candidate;
  const activity = activityOf(project, issue_id);
  const tone = toneOf(reason?.code ?? null, activity);
  const tabIndex = isTabStop ? 0 : -1;
  const why = sentences(reason === null ? 'starts next' : reasonWords(reason.text));
  return (
    <div class={`queue-row tone ${tone}`} data-row-of>
      <span class="place number">{place ?? '–'}</span>
      <span class="issue">
        <a
          href={issueHref(project, identifier)}
          data-row
          tabIndex={tabIndex}
          aria-label={harmlessLine(`${place === null ? 'blocked' : place}, ${identifier}: ${title}`)}
        >
          <Text text={identifier} />
        </a>
        {hasSeveralProjects.value && (
          <small>
            <Text text={project} />
          </small>
        )}
      </span>
      <span class="rank">{priority === null ? <span class="none">–</span> : <Priority of={priority} />}</span>
      <span class="state">
        <Text text={plainWords(state)} />
      </span>
      <div class="what">
        <p class="title" title={harmlessLine(title)}>
          <Text text={title} />
        </p>
        <p class={activity === null ? `why ${tone}` : 'why'} title={harmlessLine(why)}>
          {activity !== null && (
            <>
              <Status tone={tone} word={activity} />{' '}
            </>
          )}
          <Text text={why} />
        </p>
      </div>
      <span class="next">{activity === 'retrying' && <Countdown at={next_check_at} />}</span>
      <div class="actions">
        {queueActions(row).map((action) => (
          <QueueButton key={action.name} row={row} action={action} tabIndex={tabIndex} />
        ))}
        <a
          class="button"
          data-part="explain"
          href={issueHref(project, identifier)}
          tabIndex={tabIndex}
          aria-label={harmlessLine(`Explain ${identifier}`)}
          {...hint('Open the issue and see which start conditions are not met')}
        >
          Explain
        </a>
      </div>
    </div>
  );
}

interface QueueButtonProps {
  readonly row: QueueRowFacts;
  readonly action: IssueAction;
  readonly tabIndex: number;
}

function QueueButton({ row, action, tabIndex }: QueueButtonProps): VNode {
  const isSending = useSignal(false);
  const press = async (): Promise<void> => {
    if (isSending.peek()) return;
    isSending.value = true;
    await actOnRow(row, action);
    isSending.value = false;
  };
  const { label } = action;
  return (
    <button
      type="button"
      data-part={action.name}
      tabIndex={tabIndex}
      aria-label={harmlessLine(`${label}: ${row.candidate.issue_identifier}`)}
      aria-disabled={isSending.value}
      {...hint(action.hint)}
      onClick={() => void press()}
    >
      {label}
    </button>
  );
}

/** Reasons that only a person can end. */
const needsPerson: ReadonlySet<string> = new Set(['paused', 'max_in_review', 'limit_reached', 'day_limit']);

function toneOf(code: string | null, activity: Activity | null): Tone {
  if (activity === 'running') return 'running';
  if (activity === 'held' || activity === 'asking') return 'needs';
  if (code === 'workflow_problem') return 'broken';
  return code !== null && needsPerson.has(code) ? 'needs' : 'waiting';
}
