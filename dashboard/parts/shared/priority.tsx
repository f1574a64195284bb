import type { VNode } from 'preact';

/** The priority of an issue as bars, and as its word: P1 is the highest. Nothing without a priority. */
export function Priority({ of }: { readonly of: number | null }): VNode | null {
  if (of === null) return null;
  return (
    <span class={`priority p${of}`} title={`Priority ${of}; 1 starts first`}>
      <svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true">
        {[0, 1, 2].map((bar) => (
          <rect key={bar} class={bar < 4 - of ? 'on' : ''} x={bar * 4} y={8 - bar * 3} width="3" height={4 + bar * 3} />
        ))}
      </svg>
      P{of}
    </span>
  );
}
