// Acts that the server has not acknowledged, kept in the browser's IndexedDB so that they outlive the tab.
//
// An act is stored with its desk (campaign, annotator, and when the campaign was made), as one origin serves many. It
// says what the person did and nothing of what they saw.

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
      request.onsuccess = () => resolve(request.result.sort((one, other) => one.submitted_at < other.submitted_at ? -1
        : one.submitted_at > other.submitted_at ? 1 : 0));
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
