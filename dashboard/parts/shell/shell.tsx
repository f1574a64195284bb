import { useSignal, useSignalEffect } from '@preact/signals';
import type { VNode } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { hasSeveralProjects, needsYou, projects } from '../../data/connection/live.ts';
import { connectAgain, link } from '../../data/connection/stream.ts';
import { isTokenWanted } from '../../data/connection/token.ts';
import { moveToRow, useKeys } from '../../data/page/keyboard.ts';
import { matchPath } from '../../data/page/match-path.ts';
import { dismissNotice, notice } from '../../data/page/notices.ts';
import { go, linkTo, place, setQuery } from '../../data/page/router.ts';
import { nextTheme, theme } from '../../data/page/theme.ts';
import { clockWords } from '../../data/text/words.ts';
import { offeredScreens, type Screen, screens } from '../../screens/index.ts';
import { Icon } from '../shared/icon.tsx';
import { Text } from '../shared/text.tsx';
import { Countdown, TimeAgo } from '../shared/time.tsx';
import { hint, Tooltip } from '../shared/tooltip.tsx';
import { Announcements } from './announcements.tsx';
import { KeyList } from './key-list.tsx';
import { Palette } from './palette.tsx';
import { TokenForm } from './token-form.tsx';
import { Wordmark } from './wordmark.tsx';

/** The frame of every screen: the navigation, the search, and the message when the daemon is away. */
export function Shell(): VNode {
  const over = useSignal<'keys' | 'palette' | null>(null);
  const close = (): void => {
    over.value = null;
  };
  const openPalette = (): void => {
    over.value = over.peek() === 'palette' ? null : 'palette';
  };
  useKeys(
    [
      ...screens
        .filter(({ key }) => key !== null)
        .map(({ path, label, key }) => ({
          keys: `g ${key}`,
          label: `go to ${label}`,
          run: () => go(linkTo(path)),
        })),
      { keys: 'mod+k', label: 'search or act', run: openPalette },
      { keys: '/', label: 'search', run: () => searchHere() || openPalette() },
      { keys: 'j', label: 'next row', run: () => moveToRow(1) },
      { keys: 'k', label: 'previous row', run: () => moveToRow(-1) },
      { keys: 'Escape', label: 'close, or leave the row', run: () => (document.activeElement as HTMLElement)?.blur() },
      {
        keys: '?',
        label: 'show all keys',
        part: 'show_keys',
        run: () => {
          over.value = 'keys';
        },
      },
    ],
    'everywhere',
  );
  const found = findScreen(place.value.path);
  useSignalEffect(() => {
    const count = needsYou.value.length;
    const name = findScreen(place.value.path)?.screen.label ?? 'Not found';
    document.title = `${count > 0 ? `(${count}) ` : ''}${name} · Baton`;
  });
  if (isTokenWanted.value) return <TokenForm />;
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="top">
        <a href={linkTo('/')} class="home" aria-label="Baton: Now">
          <Wordmark />
        </a>
        <Navigation current={found?.screen ?? null} />
        <ProjectChoice />
        <button
          type="button"
          class="search"
          onClick={openPalette}
          {...hint('Find an issue, a screen or an action by typing')}
        >
          <Icon name="find" />
          <span>
            Search<span class="longer"> or act</span>
          </span>
          <kbd>{isMac ? '⌘' : 'Ctrl '}K</kbd>
        </button>
        <button
          type="button"
          class="quiet keys"
          data-part="show_keys"
          aria-label="Show keys"
          onClick={() => {
            over.value = 'keys';
          }}
          {...hint('Show every key of this screen')}
        >
          <Icon name="keys" />
        </button>
        <button
          type="button"
          class="quiet theme"
          data-part="theme"
          aria-label={`Theme: ${theme.value}`}
          onClick={nextTheme}
          {...hint(themeHints[theme.value])}
        >
          <Icon name={theme.value} />
        </button>
      </header>
      <AwayBar />
      <main id="main" tabIndex={-1}>
        {found === null ? <NotFound /> : <ScreenBox key={place.value.path} {...found} />}
      </main>
      <NoticeLine />
      <Announcements />
      <Tooltip />
      {over.value === 'keys' && <KeyList onClose={close} />}
      {over.value === 'palette' && <Palette onClose={close} />}
    </>
  );
}

const isMac = navigator.platform.startsWith('Mac');
const themeHints = {
  auto: 'Colours as on your machine. Press for light',
  light: 'Light colours. Press for dark',
  dark: 'Dark colours. Press for those of your machine',
} as const;

/** Focuses the search of the screen itself, if it has one. */
function searchHere(): boolean {
  const field = document.querySelector<HTMLInputElement>('main input[type=search]');
  field?.focus();
  field?.select();
  return field !== null;
}

interface FoundScreen {
  readonly screen: Screen;
  readonly params: Readonly<Record<string, string>>;
}

function findScreen(path: string): FoundScreen | null {
  for (const screen of screens) {
    const params = matchPath(screen.path, path);
    if (params !== null) return { screen, params };
  }
  return null;
}

/** A screen that fails says so; the rest of the page continues. */
function ScreenBox({ screen, params }: FoundScreen): VNode {
  const [error, tryAgain] = useErrorBoundary();
  if (error === undefined) return <screen.component params={params} />;
  return (
    <section class="screen">
      <h1 tabIndex={-1}>This screen failed</h1>
      <p class="problem">
        <Text text={String(error)} />
      </p>
      <p class="actions">
        <button type="button" onClick={tryAgain}>
          Try again
        </button>
      </p>
    </section>
  );
}

function Navigation({ current }: { readonly current: Screen | null }): VNode {
  const count = needsYou.value.length;
  return (
    <nav class="screens" aria-label="Screens">
      {offeredScreens().map((screen) => (
        <a key={screen.path} href={linkTo(screen.path)} aria-current={screen === current ? 'page' : undefined}>
          {screen.label}
          {screen.path === '/' && count > 0 && (
            <span class="count needs">
              {count}
              <span class="unseen"> need you</span>
            </span>
          )}
        </a>
      ))}
    </nav>
  );
}

function ProjectChoice(): VNode | null {
  if (!hasSeveralProjects.value) return null;
  const names = [...(projects.value?.keys() ?? [])];
  return (
    <select
      aria-label="Project"
      value={place.value.query.get('project') ?? ''}
      onChange={({ currentTarget }) => setQuery({ project: currentTarget.value }, 'push')}
    >
      <option value="">All projects</option>
      {names.map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function NotFound(): VNode {
  return (
    <section class="screen" data-part="not_found">
      <h1 tabIndex={-1}>Page not found</h1>
      <p>
        <a href={linkTo('/')}>Go to Now</a>
      </p>
    </section>
  );
}

/** One line at the bottom that shows the result of the last action. */
function NoticeLine(): VNode | null {
  const shown = notice.value;
  if (shown === null) return null;
  return (
    <output class={shown.isRefusal ? 'notice refused' : 'notice'}>
      {shown.href == null ? (
        <Text text={shown.text} lines />
      ) : (
        <a href={shown.href} onClick={dismissNotice}>
          <Text text={shown.text} lines />
        </a>
      )}
      <button type="button" class="quiet" onClick={dismissNotice}>
        Dismiss
      </button>
    </output>
  );
}

/** While the daemon does not answer: since when, and when the page tries again. The shown state stays. */
function AwayBar(): VNode | null {
  const state = link.value;
  if (state.is !== 'away') return null;
  return (
    <div class="away" role="status">
      <strong>
        No answer from the daemon since {clockWords(state.since, true)} (
        <TimeAgo at={new Date(state.since).toISOString()} />
        ).
      </strong>
      <span>
        {state.why !== null && <Text text={`${state.why} `} />}
        You see the state at that time. Next try <Countdown at={new Date(state.again).toISOString()} />.
      </span>
      <button type="button" onClick={connectAgain}>
        Try now
      </button>
    </div>
  );
}
