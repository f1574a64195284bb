import path from 'node:path';
import type { Plugin } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..');

/** What the published program loads instead of a whole library; each text is a module in the older format. */
const lighter: Readonly<Record<string, string>> = {
  // A module that imports it makes Node read everything that it exports, and two of these names load an HTTP client that
  // Baton does not use: 40 ms of every start, and 14 MB.
  http: "module.exports = process.getBuiltinModule('node:http');",
  // Its index loads `fetch`, WebSockets, caches and mocks: three quarters of its code.
  undici: `const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
Object.assign(Dispatcher.prototype, { request: require('undici/lib/api/api-request.js') });
module.exports = {
  Agent: require('undici/lib/dispatcher/agent.js'),
  EnvHttpProxyAgent: require('undici/lib/dispatcher/env-http-proxy-agent.js'),
  Pool: require('undici/lib/dispatcher/pool.js'),
};`,
  // Every language of its messages: half of its code.
  'zod-locales': "module.exports = { en: require('zod/v4/locales/en.js').default };",
  // Baton allows HTTP/1.1 only.
  'client-h2.js': "module.exports = () => { throw new Error('HTTP/2 is not part of this build'); };",
};

export const lighterParts: Plugin = {
  name: 'lighter-parts',
  setup: (build) => {
    build.onResolve({ filter: /^(?:(?:node:)?http|undici)$/ }, ({ path: name }) => ({
      path: name.replace(/^node:/, ''),
      namespace: 'lighter-parts',
    }));
    build.onResolve({ filter: /\/locales\/index\.js$/ }, () => ({ path: 'zod-locales', namespace: 'lighter-parts' }));
    build.onResolve({ filter: /\/client-h2\.js$/ }, () => ({ path: 'client-h2.js', namespace: 'lighter-parts' }));
    build.onLoad({ filter: /./, namespace: 'lighter-parts' }, ({ path: name }) => ({
      contents: lighter[name] ?? '',
      resolveDir: root,
    }));
  },
};
