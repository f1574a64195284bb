import type { VNode } from 'preact';
import { Meter } from '../costs/amount.tsx';
import { Text } from './text.tsx';
import { Countdown } from './time.tsx';

interface QuotaBarProps {
  readonly name: string;
  /** In percent. */
  readonly used: number;
  readonly amount: string;
  readonly resetsAt: string | null;
}

/** One window of a quota: how much of it is used, and when it resets. */
export function QuotaBar({ name, used, amount, resetsAt }: QuotaBarProps): VNode {
  return (
    <li>
      <span class="name">
        <Text text={name} />
      </span>
      <Meter used={used} label={name} />
      <span class="number">{amount}</span>
      <span class="resets">
        {resetsAt === null ? (
          <span class="none">reset time unknown</span>
        ) : (
          <>
            resets <Countdown at={resetsAt} />
          </>
        )}
      </span>
    </li>
  );
}
