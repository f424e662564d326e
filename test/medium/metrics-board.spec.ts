import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderMarkdown } from '../../apps/control-plane/src/docs/rendering/markdown.js';
import { DELIVERY_STATUSES } from '../../apps/control-plane/src/webhooks/delivery.view.js';
import { ControlPlaneHarness } from '../support/control-plane-harness.js';
import { GatewayHarness, sms } from '../support/gateway-harness.js';

const fileOf = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

interface Board {
  readonly panels: readonly { readonly title: string; readonly targets?: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string | { readonly query: string } }[] };
}

const board = JSON.parse(fileOf('config/grafana/countersign.json')) as Board;

/** All rules have one form, so that they can be parsed without a YAML library. */
const RULE =
  /^(?<alert>\w+)\n {8}expr: \|\n(?<expr>(?: {10}.*\n)+) {8}for: (?<lasts>\d+[ms])\n {8}labels:\n {10}severity: (?<severity>\w+)\n {8}annotations:\n {10}summary: '(?<summary>.+)'\n {10}description: '(?<description>.+)'\n {10}runbook: (?<runbook>\S+)\n/;
interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly severity: string;
  readonly runbook: string;
}

const alerts = fileOf('config/alerts/countersign.yml')
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text): Rule => {
    const { alert, expr, severity, runbook } = RULE.exec(text)?.groups ?? {};
    if (alert === undefined || expr === undefined || severity === undefined || runbook === undefined)
      throw new Error(`rule in another form: ${text}`);
    return { alert, expr, severity, runbook };
  });

const expressions = (): string[] => [
  ...board.panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)),
  ...board.templating.list.map(({ query }) => (typeof query === 'string' ? query : query.query)),
  ...alerts.map(({ expr }) => expr),
];

const namesIn = (expression: string): string[] => expression.match(/countersign_\w+/g) ?? [];

let gateway: GatewayHarness;
let controlPlane: ControlPlaneHarness;
let ofGateway = '';
let exposed = '';

const linesOf = (name: string): string[] =>
  exposed.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));

/** Every name at the start of a metric line. */
function declared(): Set<string> {
  const names = new Set<string>();
  for (const [, name = '', type] of exposed.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    for (const end of type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']) names.add(`${name}${end}`);
  }
  return names;
}

beforeAll(async () => {
  [gateway, controlPlane] = [await GatewayHarness.open(), await ControlPlaneHarness.open()];
  await gateway.system({ systemId: 'north' });
  const esme = await gateway.esme('north');
  await esme.send('submit_sm', sms('no token at all'));
  await controlPlane.create();
  const read = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();
  ofGateway = await read(`http://127.0.0.1:${gateway.ports.ops}`);
  exposed = `${ofGateway}\n${await read(controlPlane.opsUrl)}`;
});
afterAll(async () => {
  await gateway.close();
  await controlPlane.close();
});

describe('the dashboard and the alert rules', () => {
  it('use only metrics that a gateway or a control plane exports', () => {
    const names = declared();
    const used = new Set(expressions().flatMap(namesIn));
    expect(used.size).toBeGreaterThan(30);
    expect([...used].filter((name) => !names.has(name))).toEqual([]);
  });

  it('use every metric of a gateway', () => {
    const used = new Set(expressions().flatMap(namesIn));
    const known = [...ofGateway.matchAll(/^# TYPE (countersign_\w+) \w+$/gm)].map(([, name = '']) => name);
    const shown = (name: string): boolean => [name, `${name}_bucket`, `${name}_count`].some((each) => used.has(each));
    expect(known.filter((name) => !shown(name))).toEqual([]);
  });

  it('select by labels that the metrics have', () => {
    for (const expression of expressions()) {
      for (const [, name = '', selectors = ''] of expression.matchAll(/(countersign_\w+)\{([^}]*)\}/g)) {
        const [line] = linesOf(name);
        if (line === undefined) continue;
        for (const [, label] of selectors.matchAll(/(\w+)(?:=~|!~|!=|=)"/g)) expect(line).toContain(`${label}="`);
      }
    }
  });

  it('count live keys only', () => {
    const selected = expressions().flatMap((expression) => [
      ...expression.matchAll(/(countersign_(?:create_seconds|webhook_(?:attempts|seconds))\w*)(?:\{([^}]*)\})?/g),
    ]);
    expect(selected.length).toBeGreaterThan(6);
    const others = selected.filter(([, , selectors = '']) => !selectors.includes('mode="live"'));
    expect(others.map(([text]) => text)).toEqual([]);
  });

  it('select outcomes that deliveries have', () => {
    const outcomes = expressions().flatMap((expression) =>
      [...expression.matchAll(/countersign_webhook_attempts_total\{[^}]*outcome(?:=|!=)"([^"]*)"/g)].map(
        ([, outcome]) => outcome,
      ),
    );
    expect(outcomes.length).toBeGreaterThan(0);
    expect(DELIVERY_STATUSES).toEqual(expect.arrayContaining(outcomes));
  });

  it('have one form, and link to a section of a runbook page', () => {
    const sectionsOf = (page: string): Set<string> => {
      const { html } = renderMarkdown(fileOf(`apps/control-plane/src/docs/pages/${page}.md`));
      return new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, section = '']) => `/docs/${page}#${section}`));
    };
    const sections = new Set([...sectionsOf('a-carrier-calls'), ...sectionsOf('operations')]);
    expect(alerts.length).toBeGreaterThan(15);
    for (const rule of alerts) {
      expect(['critical', 'warning']).toContain(rule.severity);
      expect([rule.alert, rule.runbook, sections.has(rule.runbook)]).toEqual([rule.alert, rule.runbook, true]);
    }
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  });
});

describe('the metrics of a gateway', () => {
  it('have the system_id as peer, and no peer before a bind', async () => {
    const unbound = await gateway.connectUnbound();
    await unbound.enquireLink();
    const pdus = 'countersign_smpp_pdus_total{side="listener",direction="in"';
    expect(await gateway.metric(`${pdus},command="submit_sm",status="ESME_ROK",peer="north"`)).toBe(1);
    expect(await gateway.metric(`${pdus},command="enquire_link",status="ESME_ROK",peer=""`)).toBe(1);
    expect(await gateway.metric('countersign_mo_total{fate="no_token",side="listener",peer="north"')).toBe(1);
    expect(await gateway.metric('countersign_smpp_links{side="listener",state="bound_trx",peer="north"')).toBe(1);
    unbound.destroy();
  });

  it('stay readable while the database is unreachable', async () => {
    await gateway.line.cut();
    try {
      expect(await gateway.metric('countersign_smpp_links{side="listener",state="bound_trx",peer="north"')).toBe(1);
    } finally {
      await gateway.line.mend();
    }
  });
});
