import { forgetOldest } from '../memory/forget-oldest.js';
import type { FeedEvent, PhoneItem, PhoneView } from '../phone/phone-item.js';

/** Items in the snapshot of a number. */
const REMEMBERED_ITEMS = 200;
/** Numbers whose items are kept; above the bound the numbers without news for the longest time are removed. */
const REMEMBERED_PHONES = 5_000;

/** A client that reads the feed of some phones. */
export interface FeedReader {
  readonly phones: ReadonlySet<string>;
  send(event: FeedEvent): void;
}

/** The items on the phones, and the readers of their feeds. Bounded: the oldest are removed first. */
export class PhoneFeed {
  readonly #items = new Map<string, Map<string, PhoneItem>>();
  readonly #readers = new Set<FeedReader>();

  constructor(
    /** The switches of a number, for the snapshot. */
    private readonly viewOf: (phone: string) => PhoneView,
    private readonly most = { items: REMEMBERED_ITEMS, phones: REMEMBERED_PHONES },
  ) {}

  /** Sends the snapshot at once and all later events; returns the function that unsubscribes. */
  subscribe(reader: FeedReader): () => void {
    const phones = [...reader.phones];
    const items = phones.flatMap((phone) => [...(this.#items.get(phone)?.values() ?? [])]);
    items.sort((one, other) => (one.at < other.at ? -1 : one.at > other.at ? 1 : 0));
    reader.send({ event: 'snapshot', data: { phones: phones.map(this.viewOf), items } });
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  /** A new item, or a known one (by its id) that has changed. */
  show(item: PhoneItem): void {
    const items = this.#items.get(item.phone) ?? new Map<string, PhoneItem>();
    items.set(item.id, item);
    forgetOldest(items, this.most.items);
    this.#items.delete(item.phone);
    this.#items.set(item.phone, items);
    forgetOldest(this.#items, this.most.phones);
    this.#send(item.phone, { event: 'item', data: item });
  }

  showPhone(view: PhoneView): void {
    this.#send(view.phone, { event: 'phone', data: view });
  }

  #send(phone: string, event: FeedEvent): void {
    for (const reader of this.#readers) if (reader.phones.has(phone)) reader.send(event);
  }
}
