import type { VNode } from 'preact';
import type { IssueSummary } from '../../../src/client/schema/issue.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { type LiveIssue, liveOf } from '../../data/issue/activity.ts';
import { issueHref } from '../../data/page/router.ts';
import { Icon, type IconName } from '../shared/icon.tsx';
import { Priority } from '../shared/priority.tsx';
import { Status } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { Age, Countdown, Duration } from '../shared/time.tsx';

/** All cards have the same height, with the gap below, so that only the visible ones are drawn. */
export const cardHeight = 102;

const tones = { running: 'running', retrying: 'waiting', held: 'needs', asking: 'needs', review: 'needs' } as const;

interface CardProps {
  readonly project: string;
  readonly issue: IssueSummary;
  /** The statuses of finished issues. */
  readonly finished: ReadonlySet<string>;
  readonly isTabStop: boolean;
  readonly isSelected: boolean;
  readonly canMove: boolean;
  readonly onSelect: (issue: IssueSummary) => void;
  readonly onDragStart: (issue: IssueSummary) => void;
  readonly onDragEnd: () => void;
}

/** An issue: its name and its age, what it is about, and at the bottom who works on it or what it waits for. */
export function BoardCard(props: CardProps): VNode {
  const { project, issue, finished, isTabStop, isSelected, canMove, onSelect, onDragStart, onDragEnd } = props;
  const isFinished = finished.has(issue.state);
  const live = liveOf(project, issue.id);
  const blockers = isFinished ? [] : issue.blockers.filter(({ state }) => state === null || !finished.has(state));
  const text = live?.text ?? (live === null && blockers.length > 0 ? waitsFor(blockers) : null);
  const tabIndex = isTabStop ? 0 : -1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is dragged by the mouse is moved by the key m.
    <div
      class={`card tone ${live === null ? '' : tones[live.activity]} ${isSelected ? 'selected' : ''}`}
      draggable={canMove}
      data-row-of
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', issue.identifier);
        onDragStart(issue);
      }}
      onDragEnd={onDragEnd}
    >
      <p class="meta">
        <Priority of={issue.priority} />
        <a
          href={issueHref(project, issue.identifier)}
          data-row
          draggable={false}
          tabIndex={tabIndex}
          aria-label={harmlessLine(`${issue.identifier}: ${issue.title}`)}
        >
          <Text text={issue.identifier} />
        </a>
        <span class="labels">
          <Text text={issue.labels.filter((label) => label !== 'phase:ready').join(', ')} />
        </span>
        <Age at={isFinished ? issue.updated_at : issue.created_at} label={isFinished ? 'finished' : 'filed'} />
        <input
          type="checkbox"
          checked={isSelected}
          tabIndex={tabIndex}
          aria-label={`Select ${harmlessLine(issue.identifier)}`}
          onClick={() => onSelect(issue)}
        />
      </p>
      <p class="title" title={harmlessLine(issue.title)}>
        <Text text={issue.title} />
      </p>
      {text !== null && (
        <p class="said-line" title={harmlessLine(text)}>
          <Text text={text} />
        </p>
      )}
      <p class="foot">
        {live !== null && <LiveLine live={live} />}
        {live === null && blockers.length > 0 && (
          <span class="live">
            <Icon name="block" />
            <Status tone="waiting" word="blocked" />
          </span>
        )}
      </p>
    </div>
  );
}

const icons: Readonly<Record<LiveIssue['activity'], IconName>> = {
  running: 'agent',
  asking: 'ask',
  held: 'pause',
  retrying: 'clock',
  review: 'change',
};

function LiveLine({ live: { activity, agent, at } }: { readonly live: LiveIssue }): VNode {
  return (
    <span class="live">
      <Icon name={icons[activity]} />
      <Status tone={tones[activity]} word={activity} />
      {activity === 'running' && <Duration from={at} />}
      {activity === 'retrying' && <Countdown at={at} />}
      {agent !== null && (
        <span class="agent">
          <Text text={agent} />
        </span>
      )}
    </span>
  );
}

function waitsFor(blockers: IssueSummary['blockers']): string {
  return `waits for ${blockers.map(({ identifier, id }) => identifier ?? id ?? 'an unknown issue').join(', ')}`;
}
