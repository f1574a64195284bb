import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Found, Project } from '../../../src/client/schema/system.ts';
import { apiRoot, projectPath, read } from '../../data/connection/api.ts';
import { shownProjects } from '../../data/connection/live.ts';
import { useResource } from '../../data/connection/resource.ts';
import { later } from '../../data/page/clock.ts';
import { foundItems, itemsFor } from '../../data/page/palette-items.ts';
import type { PaletteItem } from '../../data/page/palette-matches.ts';
import { Dialog } from '../shared/dialog.tsx';
import { Text } from '../shared/text.tsx';

const shownAtMost = 60;
/** The search starts after this pause in typing, not with every letter. */
const pauseMs = 200;
const shortestSearch = 2;
/** A second press sooner than this is a double click, not a confirmation. */
const doubleClickMs = 350;

/**
 * Reaches screens, issues and actions by typing. The arrows choose, Enter runs the choice. What must hold: Enter runs
 * what the person has chosen and seen, even when other items appear, disappear or move meanwhile.
 */
export function Palette({ onClose }: { readonly onClose: () => void }): VNode {
  const typed = useSignal('');
  const chosen = useSignal<string | null>(null);
  const armed = useSignal<{ readonly id: string; readonly at: number } | null>(null);
  const found = useSignal<readonly PaletteItem[]>([]);
  const list = useRef<HTMLDivElement>(null);
  const { resource } = useResource<{ readonly projects: readonly Project[] }>(`${apiRoot}/projects`);
  const boards = useComputed(() => boardsOf(resource.value.value?.projects ?? []));

  useSignalEffect(() => {
    const text = typed.value.trim();
    if (text.length < shortestSearch) {
      found.value = [];
      return;
    }
    const search = new AbortController();
    const cancel = later(pauseMs, () => {
      void searchAll(text, search.signal).then((items) => {
        if (!search.signal.aborted) found.value = items;
      });
    });
    return () => {
      cancel();
      search.abort();
    };
  });

  const here = itemsFor(typed.value, boards.value);
  const known = new Set(here.map(({ id }) => id));
  const items = [...here, ...found.value.filter(({ id }) => !known.has(id))].slice(0, shownAtMost);
  // Without a choice, the first item. If the chosen item has gone, none, and never the one next to it.
  const current = chosen.value === null ? Math.min(0, items.length - 1) : items.findIndex(isCalled(chosen.value));
  useLayoutEffect(() => {
    if (chosen.peek() === null) chosen.value = items[0]?.id ?? null;
  });
  useEffect(() => {
    list.current?.querySelector('[aria-selected=true]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen.value]);
  const choose = (index: number): void => {
    chosen.value = items[Math.min(Math.max(index, 0), items.length - 1)]?.id ?? null;
  };
  const use = (item: PaletteItem | undefined, at: number): void => {
    if (item === undefined) return;
    if (item.isConfirmed === true) {
      const before = armed.peek();
      if (before?.id !== item.id) armed.value = { id: item.id, at };
      if (before?.id !== item.id || at - before.at < doubleClickMs) return;
    }
    onClose();
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.isComposing) return;
    if (event.key === 'ArrowDown') choose(current + 1);
    else if (event.key === 'ArrowUp') choose(current - 1);
    else if (event.key !== 'Enter') return;
    // A key that is held down counts as one press.
    else if (!event.repeat) use(items[current], event.timeStamp);
    event.preventDefault();
  };
  return (
    <Dialog part="palette" title="Search or act" onClose={onClose} isBare>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-items"
        aria-activedescendant={current >= 0 ? `palette-${current}` : undefined}
        aria-label="Search issues, transcripts, screens and actions"
        placeholder="Find an issue, a screen or an action"
        autocomplete="off"
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
          chosen.value = null;
          armed.value = null;
        }}
        onKeyDown={onKeyDown}
      />
      <div id="palette-items" class="palette" role="listbox" aria-label="Results" ref={list}>
        {items.map((item, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keyboard.
          <div
            key={item.id}
            data-part={item.id}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === current}
            onClick={({ timeStamp }) => use(item, timeStamp)}
          >
            <span class="group">{item.group}</span>
            <span class="label">
              {armed.value?.id === item.id ? 'Press Enter again: ' : ''}
              <Text text={item.label} />
            </span>
            <span class="detail">
              <Text text={item.detail} />
            </span>
          </div>
        ))}
      </div>
      {items.length === 0 && <p class="empty">Nothing found.</p>}
    </Dialog>
  );
}

function boardsOf(projects: readonly Project[]): ReadonlySet<string> {
  return new Set(projects.filter(({ has_board }) => has_board).map(({ name }) => name));
}

function isCalled(wanted: string): (item: PaletteItem) => boolean {
  return ({ id }) => id === wanted;
}

async function searchAll(text: string, signal: AbortSignal): Promise<readonly PaletteItem[]> {
  const answers = await Promise.all(
    shownProjects.peek().map(async ({ project }) => {
      const answer = await read<Found>(`${projectPath(project, 'search')}?q=${encodeURIComponent(text)}`, signal);
      return 'value' in answer ? foundItems(project, answer.value) : [];
    }),
  );
  return answers.flat();
}
