import type { VNode } from 'preact';
import type { IssueSummary } from '../../../src/client/schema/issue.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { activityOf } from '../../data/issue/activity.ts';
import { issueHref } from '../../data/page/router.ts';
import { Status, type Tone } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';

/** All cards have the same height, so that only the visible ones are drawn. */
export const cardHeight = 70;

const tones = { running: 'running', retrying: 'waiting', held: 'needs', asking: 'needs' } as const;

interface CardProps {
  readonly project: string;
  readonly issue: IssueSummary;
  readonly isTabStop: boolean;
  readonly isSelected: boolean;
  readonly canMove: boolean;
  readonly onSelect: (issue: IssueSummary) => void;
  readonly onDragStart: (issue: IssueSummary) => void;
  readonly onDragEnd: () => void;
}

export function BoardCard(props: CardProps): VNode {
  const { project, issue, isTabStop, isSelected, canMove, onSelect, onDragStart, onDragEnd } = props;
  const activity = activityOf(project, issue.id);
  const tone: Tone | null = activity === null ? null : tones[activity];
  const tabIndex = isTabStop ? 0 : -1;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: what is dragged by the mouse is moved by the key m.
    <div
      class={`card tone ${tone ?? ''} ${isSelected ? 'selected' : ''}`}
      draggable={canMove}
      data-row-of
      onDragStart={(event) => {
        event.dataTransfer?.setData('text/plain', issue.identifier);
        onDragStart(issue);
      }}
      onDragEnd={onDragEnd}
    >
      <p class="meta">
        <a
          href={issueHref(project, issue.identifier)}
          data-row
          draggable={false}
          tabIndex={tabIndex}
          aria-label={harmlessLine(`${issue.identifier}: ${issue.title}`)}
        >
          <Text text={issue.identifier} />
        </a>
        {issue.priority !== null && <span class={`priority p${issue.priority}`}>P{issue.priority}</span>}
        {tone !== null && activity !== null && <Status tone={tone} word={activity} />}
        <span class="labels">
          <Text text={issue.labels.join(', ')} />
        </span>
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
    </div>
  );
}
