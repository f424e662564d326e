// The import table: which library or app may import which library. One that is not listed may import no other.
const LIBS = {
  ids: [],
  composition: ['keys', 'key-ring', 'postgres', 'bus', 'events', 'telemetry'],
  schedule: [],
  resilience: [],
  phone: [],
  text: [],
  'store-urls': [],
  keys: ['ids'],
  smpp: ['resilience', 'text'],
  postgres: ['ids', 'schedule', 'resilience', 'store-urls'],
  'key-ring': ['ids', 'keys', 'postgres'],
  bus: ['ids', 'schedule', 'resilience', 'postgres', 'store-urls'],
  events: ['ids', 'postgres', 'bus', 'keys'],
  session: ['ids', 'phone', 'text', 'keys', 'key-ring', 'postgres', 'events'],
  accounts: ['ids', 'schedule', 'resilience', 'text', 'keys', 'key-ring', 'postgres', 'bus', 'events'],
  carriers: ['ids', 'resilience', 'phone', 'keys', 'key-ring', 'postgres', 'bus', 'events'],
  rcs: ['ids', 'keys', 'postgres', 'events'],
  sdk: [],
  settings: ['store-urls'],
  http: [],
  tls: [],
  telemetry: ['phone', 'http'],
};
const everyLib = Object.keys(LIBS);
const APPS = {
  console: [],
  'control-plane': everyLib.filter((lib) => lib !== 'smpp'),
  gateway: everyLib,
  simulator: ['phone', 'text', 'settings', 'http', 'telemetry', 'sdk'],
};

const moduleRule = (folder, module, allowed) => ({
  name: `${folder}-${module}`,
  comment: `${folder}/${module} may import ${allowed.length === 0 ? 'no library' : allowed.join(', ')}`,
  severity: 'error',
  from: { path: `^${folder}/${module}/` },
  to: {
    path: '^(apps|libs|config|test)/',
    pathNot: [`^${folder}/${module}/`, ...allowed.map((lib) => `^libs/${lib}/`)],
  },
});

/** The simulator's SMSC is the stack that is not ours; it is a development dependency, and in no production image. */
const npmSmpp = {
  name: 'npm-smpp-is-the-simulators',
  severity: 'error',
  from: { path: '^(apps|libs)/', pathNot: ['^apps/simulator/', '\\.spec\\.ts$'] },
  to: { path: 'node_modules/smpp/' },
};

module.exports = {
  forbidden: [
    ...Object.entries(LIBS).map(([module, allowed]) => moduleRule('libs', module, allowed)),
    ...Object.entries(APPS).map(([module, allowed]) => moduleRule('apps', module, allowed)),
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-folder-circular',
      comment: 'Folders of an app or a library form no cycle: each can be read before those that use it.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(apps|libs)/', pathNot: '^libs/sdk/' },
      to: { circular: true },
    },
    {
      name: 'nothing-imports-tests',
      severity: 'error',
      from: { path: '^(apps|libs|config)/' },
      to: { path: '^test/' },
    },
    {
      name: 'only-through-the-index',
      comment: 'A library is imported as @countersign/<library>, never by a path into it.',
      severity: 'error',
      from: { path: '^(apps|libs)/([^/]+)/' },
      to: {
        path: '^libs/([^/]+)/src/',
        pathNot: ['^$1/$2/', '^libs/[^/]+/src/index\\.ts$', '^libs/[^/]+/src/[^/]+/index\\.ts$'],
      },
    },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, path: '^(apps|libs)/', pathNot: ['\\.spec\\.ts$', '\\.d\\.m?ts$'] },
      to: {},
    },
    {
      name: 'not-to-dev-dependencies',
      severity: 'error',
      // The console is built: its packages are in no image.
      from: { path: '^(apps|libs)/', pathNot: ['\\.spec\\.ts$', '^apps/console/'] },
      // The next rule is that of npm smpp.
      to: { dependencyTypes: ['npm-dev'], pathNot: 'node_modules/smpp/' },
    },
    npmSmpp,
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.tsx', '.js'],
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
