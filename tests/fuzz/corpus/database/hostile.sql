CREATE TABLE numbers(id INTEGER PRIMARY KEY, value TEXT);INSERT INTO numbers VALUES(1,'gemm');
CREATE VIEW StringIds AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS id, 'x' AS value FROM n;
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT,end INT,deviceId INT,streamId INT,correlationId INT,globalPid INT,demangledName INT,"short""Name" AS (start+1));
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1,2,0,7,1,16777216,1),(3,4,0,7,2,33554432,1);
CREATE INDEX k ON CUPTI_ACTIVITY_KIND_KERNEL(end DESC) WHERE start > 2;
CREATE TRIGGER t AFTER INSERT ON numbers BEGIN INSERT INTO numbers VALUES(NULL,'again'); END;
CREATE VIEW jobs AS SELECT * FROM jobs;
CREATE TABLE "jobs; --"(job,architecture,cnodes,batch_size,flop,memory_access_bytes,input_bytes,weight_traffic_bytes);
INSERT INTO "jobs; --" VALUES('a','ps_worker',8,512,1e12,1e10,1e6,1e8);
