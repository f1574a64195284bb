import type { ComponentChildren, VNode } from 'preact';
import { slotsText } from '../../../src/core/dispatch/slots.ts';
import { harmlessLine } from '../../../src/core/text/harmless-line.ts';
import type { Spot } from '../../data/connection/actions.ts';
import { hasSeveralProjects } from '../../data/connection/live.ts';
import { isCostUnknown } from '../../data/costs/usage-sums.ts';
import type { ProjectRows } from '../../data/issue/rows.ts';
import { linkTo } from '../../data/page/router.ts';
import { costWords, countWords, plainWords, tokenWords } from '../../data/text/words.ts';
import { Cost, Meter } from '../costs/amount.tsx';
import { ActionButton } from '../shared/action-button.tsx';
import { ActionFeedback } from '../shared/action-feedback.tsx';
import { Text } from '../shared/text.tsx';
import { Countdown, TimeAgo } from '../shared/time.tsx';

interface VitalsLineProps {
  readonly rows: ProjectRows;
  /** On a phone the buttons are elsewhere: what needs the person comes before them. */
  readonly hasActions: boolean;
}

/**
 * The line at the top: what is in use, what today cost, and the health. A resource that is not short is not named; the
 * health speaks for all of them.
 */
export function VitalsLine({ rows, hasActions }: VitalsLineProps): VNode {
  const { project, vitals } = rows;
  const { slots, today, polling, budget, problems, paused } = vitals;
  const spent = { cost_usd: today.cost_usd, total_tokens: today.tokens };
  return (
    <section class="vitals" data-home aria-label={`Vitals of ${project}`}>
      <dl>
        {hasSeveralProjects.value && (
          <Vital label="Project" kind="name">
            <strong>
              <Text text={project} />
            </strong>
          </Vital>
        )}
        <Vital label="Slots">
          <span class="number">
            <strong>{slots.used}</strong>
            {slotsText(slots).slice(`${slots.used}`.length)}
          </span>
        </Vital>
        <Vital label="Tokens today" kind="minor">
          <Share used={today.tokens} limit={today.token_limit} words={tokenWords} label="Tokens today" />
        </Vital>
        <Vital label="Cost today">
          {isCostUnknown(spent) ? (
            <Cost of={spent} />
          ) : (
            <Share used={today.cost_usd} limit={today.cost_limit_usd} words={costWords} label="Cost today" />
          )}
        </Vital>
        {(today.roles ?? []).map((each) => (
          <Vital key={each.role} kind={each.used_up ? 'major' : 'minor'} label={`Budget of ${plainWords(each.role)}`}>
            <span class={each.used_up ? 'high' : 'number'} data-role={each.role}>
              {each.runs_limit !== null && `${each.runs} of ${each.runs_limit} runs `}
              {each.cost_limit_usd !== null && `${costWords(each.cost_usd)} of ${costWords(each.cost_limit_usd)}`}
            </span>
          </Vital>
        ))}
        {[...rows.accounts.values()]
          .filter(({ waits_for, windows }) => waits_for !== null || windows.length > 0)
          .map((account) => (
            <Vital
              key={account.key}
              kind={account.waits_for === null ? 'minor' : 'major'}
              label={`Quota ${nameOf(account)}`}
            >
              <Quota account={account} />
            </Vital>
          ))}
        {budget.step !== 'free' && (
          <Vital label="Requests">
            <span class="high">
              <Text text={budget.text} />
            </span>
          </Vital>
        )}
        <Vital label="Next poll" kind={polling.failures === 0 ? 'minor' : 'major'}>
          <NextPoll polling={polling} />
        </Vital>
        <Vital label="Health">
          {problems.length === 0 ? (
            <span class="well">healthy</span>
          ) : (
            <a class="ill" href={linkTo('/system')}>
              {countWords(problems.length, 'problem', 'problems')}
            </a>
          )}
        </Vital>
      </dl>
      {hasActions && <ProjectControls rows={rows} />}
      {paused !== null && (
        <p class="paused" data-part={paused.kind}>
          <strong>{paused.kind === 'pause' ? 'Paused' : 'Draining'}</strong> <TimeAgo at={paused.since} />: nothing new
          starts. {paused.reason !== null && <Text text={paused.reason} />}
        </p>
      )}
    </section>
  );
}

interface ProjectControlsProps {
  readonly rows: ProjectRows;
  /** Where the line of the project is not around them. */
  readonly isNamed?: boolean;
}

/** Pausing and draining a project. */
export function ProjectControls({ rows: { project, vitals }, isNamed = false }: ProjectControlsProps): VNode {
  const { paused } = vitals;
  const spot: Spot = { project, name: 'project', stamp: JSON.stringify(paused) };
  return (
    <div class="controls" data-home>
      <div class="actions">
        {isNamed && hasSeveralProjects.value && (
          <strong>
            <Text text={project} />
          </strong>
        )}
        {paused === null ? (
          <>
            <ActionButton
              spot={spot}
              request={{ kind: 'pause' }}
              label="Pause"
              name={`Pause ${project}`}
              hint="Start nothing new. Running agents continue, and Baton stays on"
            />
            <ActionButton
              spot={spot}
              request={{ kind: 'drain' }}
              label="Drain"
              hint="Start nothing new, and stop Baton when the running agents have finished"
              name={`Drain ${project}: stop Baton after running agents finish`}
              confirm="Stop Baton after running agents finish?"
            />
          </>
        ) : (
          <ActionButton
            spot={spot}
            request={{ kind: 'resume' }}
            label="Resume"
            hint="Start new issues again"
            name={`Resume ${project}`}
            isMain
          />
        )}
      </div>
      <ActionFeedback spot={spot} />
    </div>
  );
}

interface VitalProps {
  readonly label: string;
  /** A minor one is left out on a narrow screen. */
  readonly kind?: 'name' | 'major' | 'minor';
  readonly children: ComponentChildren;
}

function Vital({ label, kind = 'major', children }: VitalProps): VNode {
  return (
    <div class={kind}>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface ShareProps {
  readonly used: number;
  readonly limit: number | null;
  readonly words: (amount: number) => string;
  readonly label: string;
}

function Share({ used, limit, words, label }: ShareProps): VNode {
  return (
    <span class="number">
      <strong>{words(used)}</strong>
      {limit !== null && limit > 0 && (
        <>
          {' '}
          of {words(limit)} <Meter used={(used / limit) * 100} label={label} />
        </>
      )}
    </span>
  );
}

function nameOf({ backend, name }: Account): string {
  return name === 'default' || name === backend ? backend : `${backend} ${name}`;
}

type Account = ProjectRows['accounts'] extends ReadonlyMap<string, infer A> ? A : never;

function Quota({ account }: { readonly account: Account }): VNode {
  if (account.waits_for !== null) {
    return (
      <span class={account.unavailable_because === 'auth' ? 'ill' : 'high'} title={harmlessLine(account.waits_for)}>
        {account.unavailable_because === 'auth'
          ? 'needs a login'
          : account.unavailable_because === 'quota'
            ? 'used up, back'
            : 'waiting'}
        {account.unavailable_because !== 'auth' && account.unavailable_until !== null && (
          <>
            {' '}
            <Countdown at={account.unavailable_until} />
          </>
        )}
      </span>
    );
  }
  return (
    <span class="windows">
      {account.windows.map(({ name, used_percent }) => (
        <span key={name} class="number">
          {name} {Math.round(used_percent)} % <Meter used={used_percent} label={`Quota ${name}`} />
        </span>
      ))}
    </span>
  );
}

function NextPoll({ polling }: { readonly polling: ProjectRows['vitals']['polling'] }): VNode {
  const { mode, next_poll_at, is_polling, quiet_until, failures } = polling;
  return (
    <span>
      {is_polling ? 'now' : <Countdown at={next_poll_at} />} <small>{plainWords(mode)}</small>
      {quiet_until !== null && (
        <small>
          {' '}
          ends <Countdown at={quiet_until} />
        </small>
      )}
      {failures > 0 && <span class="ill"> failed {failures}×</span>}
    </span>
  );
}
