import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type JSX, useCallback, useMemo, useState } from 'react';
import { api, dataOf } from '../api/client.js';
import { linkNamesQuery } from '../api/names.js';
import { useAct } from '../ui/act.js';
import { type Column, DataTable } from '../ui/data-table.js';
import { DeleteButton } from '../ui/delete-button.js';
import { Badge, Page } from '../ui/layout.js';
import { useIsAtLeast } from '../ui/role.js';
import { Empty, Loaded } from '../ui/states.js';
import { useAllPages } from '../ui/all-pages.js';
import { OrderHandle } from './order-handle.js';
import { Resolve } from './resolve.js';
import { EditRoute } from './route-form.js';
import { inOrder, moved } from './route-order.js';
import { type Route, routesQuery, updateRoute } from './route-queries.js';
import './routes.css';

const useLinkNames = (): ReadonlyMap<string, string> => useQuery(linkNamesQuery).data ?? NO_NAMES;
const NO_NAMES: ReadonlyMap<string, string> = new Map();

function LinkName({ route: { bindId, smppSystemId } }: { readonly route: Route }): JSX.Element {
  const names = useLinkNames();
  if (bindId === null)
    return (
      <>
        <Link to="/systems">{names.get(smppSystemId ?? '') ?? smppSystemId ?? '–'}</Link>{' '}
        <span className="soft small">system</span>
      </>
    );
  return (
    <Link to="/binds/$id" params={{ id: bindId }}>
      {names.get(bindId) ?? bindId}
    </Link>
  );
}

const COLUMNS: readonly Column<Route>[] = [
  {
    name: 'Prefix',
    cell: ({ prefix }) => (
      <>
        <strong className="mono">{prefix}</strong>
        {prefix === '+' && <span className="soft small"> every number</span>}
      </>
    ),
  },
  { name: 'Bind or system', cell: (route) => <LinkName route={route} /> },
  { name: 'Priority', align: 'end', cell: ({ priority }) => priority },
  { name: 'Weight', align: 'end', cell: ({ weight }) => weight },
  { name: 'Cost', align: 'end', cell: ({ costUsd }) => `$${costUsd}` },
  { name: 'Sender', cell: ({ sourceAddress }) => sourceAddress ?? <span className="soft">brand’s</span> },
  {
    name: 'State',
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'quiet'}>{enabled ? 'enabled' : 'disabled'}</Badge>,
  },
];

function RouteActs({ route }: { readonly route: Route }): JSX.Element {
  const { mutate, isPending } = useAct({
    run: () => dataOf(api.DELETE('/v1/admin/routes/{id}', { params: { path: { id: route.id } } })),
    done: () => `The route ${route.prefix} is deleted.`,
    changes: ['routes'],
  });
  return (
    <div className="row-acts">
      <EditRoute route={route} />
      <DeleteButton what={`the route ${route.prefix}`} isPending={isPending} onDelete={() => mutate()}>
        Codes that are already queued keep it. Numbers without another route get no code.
      </DeleteButton>
    </div>
  );
}

function byPrefix(rows: readonly Route[]): ReadonlyMap<string, readonly Route[]> {
  const groups = new Map<string, Route[]>();
  for (const route of rows) {
    const group = groups.get(route.prefix);
    if (group === undefined) groups.set(route.prefix, [route]);
    else group.push(route);
  }
  return groups;
}

interface Move {
  readonly route: Route;
  readonly place: number;
}

/** The routes in the order in which they are tried; operators change it. */
function RouteTable({ routes }: { readonly routes: readonly Route[] }): JSX.Element {
  const names = useLinkNames();
  const mayChange = useIsAtLeast('operator');
  const [target, setTarget] = useState<string | null>(null);
  const rows = useMemo(() => [...routes].sort(inOrder), [routes]);
  const groups = useMemo(() => byPrefix(rows), [rows]);
  const { mutate, isPending } = useAct({
    run: async ({ route, place }: Move) => {
      const changes = moved(groups.get(route.prefix) ?? [], route.id, place);
      // The last first, so that two routes never have one priority meanwhile.
      for (const [id, priority] of [...changes].toReversed()) await updateRoute(id, { priority });
    },
    done: (_, { route, place }) => `${route.prefix}: now tried as number ${String(place + 1)}.`,
    changes: ['routes'],
  });
  const columns = useMemo((): readonly Column<Route>[] => {
    if (!mayChange) return COLUMNS;
    const order = (route: Route): JSX.Element => {
      const group = groups.get(route.prefix) ?? [];
      return (
        <OrderHandle
          name={`${route.prefix} over ${names.get(route.bindId ?? route.smppSystemId ?? '') ?? 'its link'}`}
          place={group.indexOf(route)}
          count={group.length}
          isDisabled={isPending || group.length < 2}
          onMove={(place) => mutate({ route, place })}
          onOver={(id) => setTarget(group.some((each) => each.id === id && each.id !== route.id) ? id : null)}
          onDrop={(id) => {
            const place = group.findIndex((each) => each.id === id);
            if (place !== -1) mutate({ route, place });
          }}
        />
      );
    };
    return [
      ...COLUMNS,
      { name: 'Order', cell: order },
      { name: 'Actions', align: 'end', cell: (route) => <RouteActs route={route} /> },
    ];
  }, [groups, isPending, mayChange, mutate, names]);
  const stateOf = useCallback(({ id }: Route) => (id === target ? 'target' : undefined), [target]);
  return <DataTable label="Routes" columns={columns} rows={rows} keyOf={({ id }) => id} stateOf={stateOf} />;
}

export function RoutesPage(): JSX.Element {
  const query = useInfiniteQuery(routesQuery);
  useAllPages(query);
  const mayResolve = useIsAtLeast('support');
  const mayChange = useIsAtLeast('operator');
  return (
    <Page
      title="Routes"
      lead="A route names the bind or the system that sends the codes to a prefix. The longest prefix is tried first, then the lowest priority. Routes of equal priority share the codes by weight."
      actions={mayChange && <EditRoute route={null} />}
    >
      {mayResolve && <Resolve />}
      <Loaded query={query} what="the routes">
        {({ pages }) =>
          pages[0]?.data.length === 0 ? (
            <div className="table-frame">
              <Empty title="There is no route yet">
                No code can be sent. Create a route over a bind: the prefix + is every number.
              </Empty>
            </div>
          ) : (
            <RouteTable routes={pages.flatMap(({ data }) => data)} />
          )
        }
      </Loaded>
    </Page>
  );
}
