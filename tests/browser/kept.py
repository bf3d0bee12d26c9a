"""What the browser's own storage holds of a desk."""

KEPT = """async () => {
  const database = await new Promise(tell => {
    const asked = indexedDB.open('crane-desk');
    asked.onsuccess = () => tell(asked.result);
  });
  const asked = database.transaction('acts').objectStore('acts').getAll();
  return new Promise(tell => asked.onsuccess = () => { database.close(); tell(asked.result); });
}"""
"""Script of a function: every act that waits, as it is stored."""
