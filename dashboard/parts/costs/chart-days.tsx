import { useSignal } from '@preact/signals';
import type { VNode } from 'preact';
import { axisEnd } from '../../data/costs/chart-scale.ts';
import { type NamedSum, tokenParts } from '../../data/costs/usage-sums.ts';
import { isNarrow } from '../../data/page/narrow.ts';
import { countWords, tokenWords } from '../../data/text/words.ts';

/** In pixels. The chart takes the available width. */
const height = 168;
const top = 8;
/** The width of a bar, in percent of a day's width. */
const barShare = 72;
/** The limit is drawn if it is at most this many times the largest day. */
const limitInSight = 4;
/** How many days get their name below. */
const mostNames = { wide: 8, narrow: 4 } as const;

interface DayChartProps {
  readonly days: readonly NamedSum[];
  /** How many tokens a day may use; null without a limit. */
  readonly limit: number | null;
}

/**
 * The tokens of each day as bars of three parts, and the limit of a day as a line where the days come near it. A table
 * next to it has the same numbers.
 */
export function DayChart({ days, limit }: DayChartProps): VNode {
  const pointed = useSignal<string | null>(null);
  const most = Math.max(...days.map(totalOf));
  // A limit far above the days would make bars of no height.
  const line = limit !== null && limit <= most * limitInSight ? limit : null;
  const end = axisEnd(Math.max(most, line ?? 0));
  const step = 100 / days.length;
  const heightOf = (tokens: number): number => (tokens / end) * (height - top);
  const every = Math.ceil(days.length / (isNarrow.value ? mostNames.narrow : mostNames.wide));
  const shown = days.find(({ name }) => name === pointed.value);
  return (
    <figure class="day-chart">
      <div class="plot">
        <div class="axis" aria-hidden="true">
          {[1, 0.5, 0].map((part) => (
            <span key={part} style={{ bottom: `${heightOf(part * end)}px` }}>
              {tokenWords(part * end)}
            </span>
          ))}
        </div>
        <svg
          role="img"
          aria-label={`Tokens by day, ${days[0]?.name ?? ''} to ${days.at(-1)?.name ?? ''}`}
          width="100%"
          height={height}
          onPointerLeave={() => {
            pointed.value = null;
          }}
        >
          {[1, 0.5, 0].map((part) => (
            <line
              key={part}
              class="grid"
              x1="0"
              x2="100%"
              y1={height - heightOf(part * end) - (part === 0 ? 0.5 : 0)}
              y2={height - heightOf(part * end) - (part === 0 ? 0.5 : 0)}
            />
          ))}
          {line !== null && (
            <line class="limit" x1="0" x2="100%" y1={height - heightOf(line)} y2={height - heightOf(line)} />
          )}
          {days.map((day, index) => {
            const { input, cached, output } = tokenParts(day);
            const x = `${index * step + (step * (100 - barShare)) / 200}%`;
            const width = `${(step * barShare) / 100}%`;
            const stack = [
              ['part-cached', cached, 0],
              ['part-input', input, cached],
              ['part-output', output, cached + input],
            ] as const;
            return (
              <g
                key={day.name}
                class={day.name === pointed.value ? 'day pointed' : 'day'}
                onPointerEnter={() => {
                  pointed.value = day.name;
                }}
              >
                <rect class="hit-area" x={`${index * step}%`} width={`${step}%`} y="0" height={height} />
                {stack
                  .filter(([, tokens]) => tokens > 0)
                  .map(([part, tokens, below]) => (
                    <rect
                      key={part}
                      class={part}
                      x={x}
                      width={width}
                      y={height - heightOf(below + tokens)}
                      height={heightOf(tokens)}
                    />
                  ))}
              </g>
            );
          })}
        </svg>
        <div class="names" aria-hidden="true">
          {days.map(({ name }, index) =>
            index % every === 0 ? (
              <span key={name} style={{ left: `${index * step + step / 2}%` }}>
                {dayWords(name)}
              </span>
            ) : null,
          )}
        </div>
      </div>
      <figcaption>
        <ChartKey />
        {limit !== null && (
          <span class="chart-limit" data-part="day_limit">
            {line !== null && <i class="limit" />} limit of a day: {tokenWords(limit)} tokens
            {line === null && `; the largest day used ${tokenWords(most)}`}
          </span>
        )}
        <span class="pointed-day" aria-hidden="true">
          {shown !== undefined && dayFacts(shown)}
        </span>
      </figcaption>
    </figure>
  );
}

/** The legend of the parts of a bar. */
function ChartKey(): VNode {
  return (
    <span class="chart-key">
      <i class="part-output" /> output <i class="part-input" /> input <i class="part-cached" /> input from a cache
    </span>
  );
}

/** `15 Nov`; in UTC, as the days are counted. */
export function dayWords(day: string): string {
  return new Date(`${day}T00:00:00Z`).toLocaleDateString([], { month: 'short', day: 'numeric', timeZone: 'UTC' });
}

function dayFacts(day: NamedSum): string {
  const { input, cached, output } = tokenParts(day);
  const parts = `${tokenWords(output)} output, ${tokenWords(input)} input, ${tokenWords(cached)} cached`;
  return `${dayWords(day.name)}: ${parts}, ${countWords(day.runs, 'run', 'runs')}`;
}

function totalOf(day: NamedSum): number {
  const { input, cached, output } = tokenParts(day);
  return input + cached + output;
}
