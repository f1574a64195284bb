import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Run, RunDetail } from '../../../src/client/schema/run.ts';
import { stageWords } from '../../../src/core/run/run.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import { projectPath } from '../../data/connection/api.ts';
import { useResource } from '../../data/connection/resource.ts';
import { now } from '../../data/page/clock.ts';
import { runHref } from '../../data/page/router.ts';
import { createRunNews } from '../../data/run/run-news.ts';
import type { TimeAxis, Wait } from '../../data/run/time-axis.ts';
import { type Bar, barsOf } from '../../data/run/waterfall-bars.ts';
import { reasonWords } from '../../data/text/gate-words.ts';
import { countWords, durationWords, plainWords, stepWords } from '../../data/text/words.ts';
import { Cost, Tokens } from '../costs/amount.tsx';
import { Status } from '../shared/status.tsx';
import { Text } from '../shared/text.tsx';
import { ClockTime, Duration } from '../shared/time.tsx';
import { attemptWords, outcomeOf, waitWords } from './run-words.ts';

interface WaterfallRunProps {
  readonly project: string;
  readonly run: Run;
  /** Its place on the axis. */
  readonly place: (TimeAxis['runs'] extends ReadonlyMap<string, infer P> ? P : never) | null;
  readonly isReadAtOnce: boolean;
}

/** One run as a line: its name, the wait before it, its bars, and its outcome. */
export function WaterfallRun({ project, run, place, isReadAtOnce }: WaterfallRunProps): VNode {
  const isSeen = useSignal(isReadAtOnce);
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (line.current === null || isSeen.peek()) return;
    const sight = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) isSeen.value = true;
    });
    sight.observe(line.current);
    return () => sight.disconnect();
  }, [isSeen]);
  const isNews = useMemo(() => createRunNews(project, run.run_id, () => now.peek()), [project, run.run_id]);
  const path = isSeen.value ? projectPath(project, 'runs', run.run_id) : null;
  const { resource, reload } = useResource<RunDetail>(path, isNews);
  // The issue reports the end of the run first.
  useEffect(reload, [run.ended_at]);
  const { word, tone } = outcomeOf(run);
  const detail = resource.value.value;
  const nowMs = run.ended_at === null ? now.value : 0;
  const bars = barsOf(run, detail?.spans ?? [], nowMs);
  const wait = place?.wait ?? null;
  return (
    <li class={`tone ${tone}`} ref={line} data-row-of>
      <a href={runHref(project, run.run_id)} data-row>
        <ClockTime at={run.started_at} />
        <span class="unseen">, run</span>
      </a>
      <span class="attempt">
        {attemptWords(run)}
        {wait !== null && wait.ms >= leastWaitMs && <small>waited {durationWords(wait.ms)}</small>}
      </span>
      <div class="track" role="img" aria-label={inWords(bars, wait)}>
        {wait !== null && <WaitBar wait={wait} why={waitWords(run)} />}
        {place !== null && (
          <div class="run-box" style={{ left: `${place.part.left}%`, width: `${place.part.width}%` }}>
            {bars.map((bar, index) => (
              <span
                key={index}
                class={`bar ${bar.kind}${bar.isOk === false ? ' bad' : ''}${bar.isOpen ? ' open' : ''}`}
                style={{ left: `${bar.left}%`, width: `${bar.width}%` }}
                title={titleOf(bar)}
              />
            ))}
          </div>
        )}
      </div>
      <span class="outcome">
        <Status tone={tone} word={word} />
      </span>
      <span class="number">
        <Duration from={run.started_at} to={run.ended_at} />
      </span>
      <span class="number tokens">
        <Tokens count={run.usage.total_tokens} />
      </span>
      <span class="number cost">
        <Cost of={run.usage} />
      </span>
      {run.error_message !== null && (
        <p class="why">
          <Text text={reasonWords(run.error_message)} />
        </p>
      )}
      {detail?.are_spans_cut && <p class="why">Only the first and the last steps are shown.</p>}
    </li>
  );
}

/** A shorter wait is not worth a word. */
const leastWaitMs = 1_000;

/** A time without a run. */
export function WaitBar({ wait, why }: { readonly wait: Wait; readonly why: string }): VNode {
  return (
    <span
      class={wait.isShortened ? 'bar wait shortened' : 'bar wait'}
      style={{ left: `${wait.left}%`, width: `${wait.width}%` }}
      title={`waited ${durationWords(wait.ms)} ${why}`}
    />
  );
}

function titleOf({ kind, name, ms, isOk, isOpen }: Bar): string {
  const how = isOk === false ? ', failed' : isOpen ? ', in progress' : '';
  const what = `${kind}: ${(kind === 'stage' ? stageWords : plainWords)(harmlessLine(name))}`;
  return `${what}, ${stepWords(ms)}${how}`;
}

/** The bars as text for screen readers: each stage and turn, the others as counts. */
function inWords(bars: readonly Bar[], wait: Wait | null): string {
  const of = (kind: Bar['kind']): readonly Bar[] => bars.filter((bar) => bar.kind === kind);
  const tools = of('tool');
  const failed = tools.filter(({ isOk }) => isOk === false).length;
  const parts = [
    ...(wait === null ? [] : [`waited ${durationWords(wait.ms)}`]),
    ...of('stage').map(({ name, ms }) => `${stageWords(name)} ${durationWords(ms)}`),
    ...of('turn')
      .slice(0, 10)
      .map(({ name, ms }) => `${plainWords(name)} ${durationWords(ms)}`),
    ...(tools.length === 0 ? [] : [`${countWords(tools.length, 'tool call', 'tool calls')}, ${failed} failed`]),
    ...of('question').map(({ ms }) => `a question for ${durationWords(ms)}`),
  ];
  return parts.length === 0 ? 'no steps known' : harmlessLine(parts.join('; '));
}
