import { countText } from '../../../core/text/amount-text.ts';
import type { NeedsYou, RunningRow, WaitingRow } from '../../../server/api/schema/now.ts';
import { cellText, reasonText } from './cell-text.ts';
import { type Cell, cell } from './line.ts';
import { ageOf, countdown } from './short-duration.ts';
import type { TopRow } from './top-rows.ts';

/** A row in its parts, before it is known how much room they have. */
export interface RowCells {
  /** One column wide. */
  readonly mark: Cell;
  readonly what: Cell;
  readonly time: string;
  readonly tokens: string;
  readonly title: string;
  readonly text: Cell;
}

/** More than this is told in millions. */
const mostCounted = 100_000_000;

export function rowCells(row: TopRow, at: number): RowCells {
  const title = cellText(row.of.title ?? '');
  switch (row.list) {
    case 'needs_you':
      return { ...needsYouCells(row.of, at), title };
    case 'running':
      return { ...runningCells(row.of, at), title };
    case 'waiting':
      return { ...waitingCells(row.of, at), title };
    case 'landed':
      return {
        ...{ mark: cell('✓', 'good'), what: cell(cellText(row.of.state), 'good'), title },
        ...{ time: ageOf(row.of.at, at) ?? '', tokens: '', text: cell(title, 'dim') },
      };
  }
}

type Parts = Omit<RowCells, 'title'>;

function needsYouCells({ kind, reason, since, waits_until: until }: NeedsYou, at: number): Parts {
  const left = until === null ? null : Date.parse(until) - at;
  const time = left !== null && left > 0 ? `${countdown(left)} left` : (ageOf(since, at) ?? '');
  const mark = kind === 'question' ? '?' : '!';
  return { mark: cell(mark, 'you'), what: cell(kind, 'you'), time, tokens: '', text: cell(reasonText(reason)) };
}

function runningCells(run: RunningRow, at: number): Parts {
  const warning = run.warnings.find(({ level }) => level === 'reached') ?? run.warnings[0];
  const said = cellText(run.last_message ?? '') || cellText(run.last_event ?? '') || 'no event yet';
  const text = warning === undefined ? said : `${cellText(warning.text)} · ${said}`;
  return {
    mark: run.waits_for_person ? cell('?', 'you') : cell('●', 'work'),
    what: cell(stageText(run.stage), run.waits_for_person ? 'you' : 'work'),
    time: `${ageOf(run.started_at, at) ?? '–'} / ${run.turn}`,
    tokens: tokensText(run.usage.total_tokens),
    text: cell(text, warning === undefined ? 'plain' : warning.level === 'reached' ? 'bad' : 'warn'),
  };
}

function waitingCells({ kind, attempt, reason, next_look_at: next }: WaitingRow, at: number): Parts {
  const left = next === null ? null : Date.parse(next) - at;
  const what = kind === 'retry' && attempt !== null ? `retry ${attempt}` : kind;
  return {
    mark: kind === 'queue' ? cell('·', 'dim') : cell('↻', 'warn'),
    what: cell(what, kind === 'queue' ? 'dim' : 'warn'),
    time: left === null ? '' : left > 0 ? `in ${countdown(left)}` : 'due',
    tokens: '',
    text: cell(reasonText(reason)),
  };
}

export function tokensText(tokens: number): string {
  return tokens < mostCounted ? countText(tokens) : `${countText(Math.floor(tokens / 1_000_000))}M`;
}

export function stageText(stage: string): string {
  return cellText(stage).replaceAll('_', ' ');
}
