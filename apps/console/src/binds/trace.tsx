import { useQuery } from '@tanstack/react-query';
import { type JSX, useState } from 'react';
import type { Schemas } from '../api/client.js';
import { Button } from '../ui/button.js';
import { Facts, Panel } from '../ui/layout.js';
import { Empty, Loaded } from '../ui/states.js';
import { Json } from '../ui/texts.js';
import { Time } from '../ui/time.js';
import { utcTime } from '../ui/times.js';
import { traceQuery } from './bind-queries.js';

type Traced = Schemas['TracedConnectionView'];
type Pdu = Schemas['TracedPduView'];

/** PDUs that are shown at once; the others are in the pcap file. */
const SHOWN_PDUS = 100;

/** The last PDUs of a bind, decoded. Asked for by a button: each reading asks all gateways. */
export function Trace({ bindId }: { readonly bindId: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const query = useQuery({ ...traceQuery(bindId), enabled: isOpen });
  const aside = isOpen ? (
    <div className="page-actions">
      <Button isDisabled={query.isFetching} onPress={() => void query.refetch()}>
        {query.isFetching ? 'Reading…' : 'Refresh'}
      </Button>
      <a
        className="button"
        href={`/console/api/v1/admin/binds/${bindId}/trace?format=pcap`}
        download={`${bindId}.pcap`}
      >
        Download pcap
      </a>
    </div>
  ) : (
    <Button kind="tonal" onPress={() => setOpen(true)}>
      Show the last PDUs
    </Button>
  );
  return (
    <Panel title="Trace" aside={aside}>
      {isOpen ? (
        <Loaded query={query} what="the trace">
          {({ connections }) => <Connections of={connections} />}
        </Loaded>
      ) : (
        <p className="soft">
          The last PDUs of each connection, decoded field by field. Texts are shown as their lengths.
        </p>
      )}
    </Panel>
  );
}

const Connections = ({ of }: { readonly of: readonly Traced[] }): JSX.Element =>
  of.every(({ pdus }) => pdus.length === 0) ? (
    <Empty title="No PDU was recorded">
      A gateway records the PDUs of a connection from its bind on. Check the connections above.
    </Empty>
  ) : (
    <>
      {of.map(({ gateway, slot, pdus }) => (
        <section key={`${gateway} ${String(slot)}`} aria-label={`Connection ${String(slot)} of ${gateway}`}>
          <h3>
            Connection {slot}, <code>{gateway}</code>
          </h3>
          <div className="pdus">
            {pdus
              .slice(-SHOWN_PDUS)
              .toReversed()
              .map((pdu) => (
                <PduEntry key={`${pdu.at} ${pdu.direction} ${String(pdu.sequence)}`} pdu={pdu} />
              ))}
          </div>
        </section>
      ))}
    </>
  );

const PduEntry = ({ pdu }: { readonly pdu: Pdu }): JSX.Element => (
  <details>
    <summary>
      <span aria-label={pdu.direction === 'out' ? 'sent' : 'received'}>{pdu.direction === 'out' ? '→' : '←'}</span>
      <strong className="mono">{pdu.command ?? 'unknown command'}</strong>
      <span className="mono small">{pdu.fault ?? pdu.status}</span>
      <time dateTime={pdu.at} title={utcTime(pdu.at)}>
        {utcTime(pdu.at).slice(11, 23)} UTC
      </time>
    </summary>
    <div className="pdu-body">
      <Facts
        of={[
          ['At', <Time key="at" at={pdu.at} />],
          ['Sequence', pdu.sequence],
          ['Ours', pdu.local],
          ['Theirs', pdu.remote],
        ]}
      />
      <Json
        label="Fields"
        value={{ ...pdu.fields, ...(Object.keys(pdu.tlvs).length === 0 ? {} : { tlvs: pdu.tlvs }) }}
      />
      <p className="mono small soft" style={{ overflowWrap: 'anywhere' }}>
        {pdu.octets}
      </p>
    </div>
  </details>
);
