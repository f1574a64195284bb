import type { VNode } from 'preact';
import { type KeyBinding, keyBindings } from '../../data/page/keyboard.ts';
import { Dialog } from '../shared/dialog.tsx';

interface KeyWords {
  readonly keys: string;
  readonly label: string;
}

/** Keys that the browser handles itself, and that are worth knowing. */
const native: readonly KeyWords[] = [
  { keys: 'Enter', label: 'open the row' },
  { keys: 'Tab', label: 'to the buttons of the row' },
];

/** The key that opens this list; the component that binds it binds the keys that work everywhere. */
const helpKey = '?';

/** All keys: those of this screen first, then those that work everywhere. */
export function KeyList({ onClose }: { readonly onClose: () => void }): VNode {
  const { here, everywhere } = groupsOf(keyBindings.value);
  return (
    <Dialog part="keys" title="Keys" onClose={onClose}>
      {here.length > 0 && <Keys title="On this screen" keys={here} />}
      <Keys title="Everywhere" keys={[...everywhere, ...native]} />
    </Dialog>
  );
}

/** A key that a screen redefines is listed once, with its meaning there. */
function groupsOf(all: readonly (readonly KeyBinding[])[]): {
  readonly here: readonly KeyWords[];
  readonly everywhere: readonly KeyWords[];
} {
  const isShell = (group: readonly KeyBinding[]): boolean => group.some(({ keys }) => keys === helpKey);
  const here = all.filter((group) => !isShell(group)).flat();
  const taken = new Set(here.map(({ keys }) => keys));
  const everywhere = all.filter(isShell).flat();
  return { here, everywhere: everywhere.filter(({ keys }) => !taken.has(keys)) };
}

function Keys({ title, keys }: { readonly title: string; readonly keys: readonly KeyWords[] }): VNode {
  return (
    <section class="key-group">
      <h3>{title}</h3>
      <dl class="key-list">
        {keys.map(({ keys: names, label }) => (
          <div key={names}>
            <dt>
              {names.split(' ').map((name) => (
                <kbd key={name}>{name.replace('mod+', 'Ctrl/Cmd ').replace('Escape', 'Esc')}</kbd>
              ))}
            </dt>
            <dd>{label}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
