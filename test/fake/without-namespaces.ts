import { fileURLToPath } from 'node:url';

/** The environment of a machine without pid namespaces, where agents survive when their daemon is killed. */
export const withoutNamespaces = {
  PATH: `${fileURLToPath(new URL('./without-namespaces', import.meta.url))}:${process.env.PATH}`,
};
