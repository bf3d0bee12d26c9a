// Acts that the server has not acknowledged, kept in the browser's IndexedDB so that they outlive the tab.
//
// An act is stored with its desk (campaign, annotator, and when the campaign was made), as one origin serves many. It
// says what the person did and nothing of what they saw. Acts have the order of their numbers: a clock may be set back.

const MOST_ACTS = 2 ** 30;
const PATIENCE_MS = 3000; // there are browsers that never answer

class Outbox {
  // Rejects where the browser refuses storage.
  static open() {
    return new Promise((resolve, reject) => {
      setTimeout(() => reject(new Error('the storage does not answer')), PATIENCE_MS);
      const request = indexedDB.open('crane-desk', 1);
      request.onupgradeneeded = () => {
        request.result.createObjectStore('acts', {keyPath: 'event'}).createIndex('desk', ['campaign', 'annotator']);
      };
      request.onerror = () => reject(request.error);
      request.onsuccess = () => resolve(new Outbox(request.result));
    });
  }

  constructor(database) {
    this.database = database;
  }

  // Everything that one person did in campaigns of this name and that is still here, in order.
  acts({campaign, annotator}) {
    return new Promise((resolve, reject) => {
      const request = this.database.transaction('acts').objectStore('acts').index('desk').getAll([campaign, annotator]);
      request.onerror = () => reject(request.error);
      request.onsuccess = () => resolve(request.result.sort(asMade));
    });
  }

  keep(acts) {
    return this.write(store => acts.forEach(act => store.put(act)));
  }

  drop(events) {
    return this.write(store => events.forEach(event => store.delete(event)));
  }

  write(change) {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction('acts', 'readwrite');
      transaction.oncomplete = resolve;
      transaction.onabort = () => reject(transaction.error);
      change(transaction.objectStore('acts'));
    });
  }
}

// In the order in which acts were made; those from before acts were numbered come first, by their clock.
function asMade(one, other) {
  if (one.number && other.number) return one.number - other.number;
  if (one.number || other.number) return one.number ? 1 : -1;
  return one.submitted_at < other.submitted_at ? -1 : one.submitted_at > other.submitted_at ? 1 : 0;
}

// This browser at one desk, and how many acts were made here. All tabs count together, in the browser's storage; a
// browser that keeps nothing is another device each time.
class Device {
  constructor({campaign, annotator}) {
    this.place = `crane-desk-device ${campaign} ${annotator}`;
    const {name, count} = this.read() ?? {name: fresh(), count: 0};
    Object.assign(this, {name, count});
  }

  // The name of the device and the number of a new act.
  next() {
    const kept = this.read();
    if (kept?.name === this.name) this.count = Math.max(this.count, kept.count);
    this.count += 1;
    this.write();
    return {device: this.name, number: this.count};
  }

  // Numbers that are known to be taken.
  isPast(...numbers) {
    this.count = Math.max(this.count, ...numbers);
  }

  read() {
    try {
      const {name, count} = JSON.parse(localStorage.getItem(this.place));
      const isRight = /^[a-f0-9]{16}$/.test(name) && Number.isInteger(count) && count >= 0 && count < MOST_ACTS;
      return isRight ? {name, count} : null;
    } catch {
      return null;
    }
  }

  write() {
    try {
      localStorage.setItem(this.place, JSON.stringify({name: this.name, count: this.count}));
    } catch (error) {
      console.warn('this browser keeps no count of labels:', error);
    }
  }
}

function fresh() {
  return [...crypto.getRandomValues(new Uint8Array(8))].map(byte => byte.toString(16).padStart(2, '0')).join('');
}

// The tabs of one person at one desk in this browser. One of them labels; a tab that comes later hears 'here' when it
// asks, and one that is told 'mine' steps aside.
class Tabs {
  constructor({campaign, annotator}, hear) {
    this.channel = new BroadcastChannel(`crane-desk ${campaign} ${annotator}`);
    this.channel.onmessage = ({data}) => hear(data);
  }

  say(word) {
    this.channel.postMessage(word);
  }

  close() {
    this.channel.close();
  }
}
