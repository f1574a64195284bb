import { type ReadonlySignal, signal } from '@preact/signals';

/**
 * The editor in which a person opens the work of an agent: a link with the editor's own protocol, which the person's
 * machine opens. Baton starts no program.
 */
export type Editor = keyof typeof editors;

const editors = {
  vscode: { label: 'VS Code', href: (path: string) => `vscode://file${path}` },
  insiders: { label: 'VS Code Insiders', href: (path: string) => `vscode-insiders://file${path}` },
  cursor: { label: 'Cursor', href: (path: string) => `cursor://file${path}` },
  windsurf: { label: 'Windsurf', href: (path: string) => `windsurf://file${path}` },
  zed: { label: 'Zed', href: (path: string) => `zed://file${path}` },
  idea: { label: 'IntelliJ IDEA', href: (path: string) => `idea://open?file=${path}` },
  webstorm: { label: 'WebStorm', href: (path: string) => `webstorm://open?file=${path}` },
} as const;

export const editorNames = Object.entries(editors).map(([name, { label }]) => ({ name: name as Editor, label }));

const key = 'baton.editor';
const chosen = signal<Editor>(read());

export const editor: ReadonlySignal<Editor> = chosen;

function read(): Editor {
  const kept = localStorage.getItem(key);
  return editorNames.find(({ name }) => name === kept)?.name ?? 'vscode';
}

export function chooseEditor(name: string): void {
  const found = editorNames.find((each) => each.name === name);
  if (found === undefined) return;
  chosen.value = found.name;
  localStorage.setItem(key, found.name);
}

/** The link that opens a file or folder; null when the daemon's files are not on the machine of the person. */
export function editorHref(path: string): string | null {
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(location.hostname);
  return isHere ? editors[chosen.value].href(encodedPath(path)) : null;
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
